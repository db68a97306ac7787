import { CONTRACT_VERSION } from "#shared/contract-version.ts";
import type { HostEvent, RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import { ApiError } from "./api-error.ts";
import { openBridge, type GiveFileOptions, type Transport } from "./transport.ts";
import { openWebTransport, takeToken } from "./web-transport.ts";

/** What every screen talks to. */
export interface Api {
  readonly platform: string;
  /** Answers with the output or throws `ApiError`. */
  request<K extends RequestName>(name: K, input: RequestInput<K>): Promise<RequestOutput<K>>;
  onEvent(listener: (event: HostEvent) => void): () => void;
  /** The host's path of a file that the user dropped or picked; throws `ApiError`. */
  giveFile(file: File, options?: GiveFileOptions): Promise<string>;
}

export function createApi(transport: Transport): Api {
  return {
    platform: transport.platform,
    async request<K extends RequestName>(name: K, input: RequestInput<K>) {
      const answer = await transport.request(name, input);
      if (!answer.ok) throw new ApiError(answer.error);
      return answer.result as RequestOutput<K>;
    },
    onEvent: (listener) => transport.onEvent(listener),
    async giveFile(file, options) {
      const answer = await transport.giveFile(file, options);
      if (!answer.ok) throw new ApiError(answer.error);
      return answer.result.path;
    },
  };
}

export function connectApi(): Api {
  return createApi(window.coppice ? openBridge(window.coppice) : openWebTransport(takeToken()));
}

/** The handshake: a page left open over an update must not talk to a newer host. */
export async function sayHello(api: Api): Promise<RequestOutput<"app.hello">> {
  const hello = await api.request("app.hello", {});
  if (hello.contractVersion !== CONTRACT_VERSION) {
    throw new ApiError({
      code: "unsupported",
      message: "This window belongs to another version of Coppice",
      hint: "Reload it, or restart Coppice.",
      untouched: "Nothing was changed.",
      retryable: false,
      details: { expected: `contract ${CONTRACT_VERSION}`, found: `contract ${hello.contractVersion}` },
    });
  }
  return hello;
}
