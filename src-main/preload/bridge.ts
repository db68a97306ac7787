/**
 * The page's only way out of its sandbox: the two channels of `ipc.ts`, shaped by the contract. Requests are checked at
 * the other end; answers and failures alike are envelopes.
 */
import { contextBridge, ipcRenderer, webUtils, type IpcRendererEvent } from "electron";
import type { HostEvent, RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { Result } from "#shared/result.ts";

const bridge = {
  platform: process.platform as string,
  request: <K extends RequestName>(name: K, input: RequestInput<K>): Promise<Result<RequestOutput<K>>> =>
    ipcRenderer.invoke("coppice:request", name, input),
  onEvent: (listener: (event: HostEvent) => void): (() => void) => {
    const handler = (_event: IpcRendererEvent, event: HostEvent) => listener(event);
    ipcRenderer.on("coppice:event", handler);
    return () => {
      ipcRenderer.removeListener("coppice:event", handler);
    };
  },
  /** The path of a file dropped on the page, which the page itself cannot see. */
  pathForFile: (file: File): string => webUtils.getPathForFile(file),
};

contextBridge.exposeInMainWorld("coppice", bridge);
