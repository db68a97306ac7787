/**
 * How requests reach the host. Desktop: the preload bridge. Web host: one WebSocket, `{id, name, input}` up,
 * `{id, result}` and `{event}` down; files go up by `POST /upload`.
 */
import type { HostEvent } from "#shared/contract.ts";
import type { Result } from "#shared/result.ts";

export interface Transport {
  readonly platform: string;
  request(name: string, input: unknown): Promise<Result<unknown>>;
  onEvent(listener: (event: HostEvent) => void): () => void;
  /** Gives the host a file of the user's: by its path where the host sees the same disk, else by copying it there. */
  giveFile(file: File, options?: GiveFileOptions): Promise<Result<{ readonly path: string }>>;
}

export interface GiveFileOptions {
  /** Bytes sent so far; never called when nothing has to be sent. */
  readonly onProgress?: (sentBytes: number) => void;
  readonly signal?: AbortSignal;
}

export interface Bridge {
  readonly platform: string;
  request(name: string, input: unknown): Promise<Result<unknown>>;
  onEvent(listener: (event: HostEvent) => void): () => void;
  pathForFile(file: File): string;
}

declare global {
  interface Window {
    readonly coppice?: Bridge;
  }
}

export function openBridge(bridge: Bridge): Transport {
  return {
    platform: bridge.platform,
    request: (name, input) => bridge.request(name, input),
    onEvent: (listener) => bridge.onEvent(listener),
    giveFile: (file) => Promise.resolve({ ok: true, result: { path: bridge.pathForFile(file) } }),
  };
}
