import type { HostEvent } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { Result } from "#shared/result.ts";
import type { GiveFileOptions, Transport } from "./transport.ts";

const RECONNECT_DELAYS_MS = [150, 300, 600, 1_200, 2_400, 4_000] as const;
/** Requests kept back while the connection is down; beyond it they fail at once. */
const QUEUE_MAX = 1_000;
const TOKEN_KEY = "coppice-token";

interface Waiting {
  readonly message: string;
  readonly resolve: (result: Result<unknown>) => void;
}
type Incoming = { readonly id: number; readonly result: Result<unknown> } | { readonly event: HostEvent };

function failure(code: ErrorView["code"], message: string, hint: string): Result<never> {
  return { ok: false, error: { code, message, hint, untouched: null, retryable: true, details: {} } };
}

const REFUSED = failure(
  "permission-denied",
  "This link to Coppice was used before",
  "Press Enter where Coppice runs, and open the link that it prints.",
);

/** A socket that never opened does not say why: the host does. */
async function isRefused(): Promise<boolean> {
  try {
    return (await fetch("/session")).status === 401;
  } catch {
    // The host is not there at all: that is a lost connection, not a refused one.
    return false;
  }
}

/** The one-time token arrives in the fragment, which no server log sees; a session cookie takes its place. */
export function takeToken(): string {
  const match = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (match?.[1]) {
    sessionStorage.setItem(TOKEN_KEY, decodeURIComponent(match[1]));
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? "";
}

/** Opens the WebSocket and keeps it open. A request that was sent when the connection broke answers `outcome-unknown`. */
export function openWebTransport(token: string): Transport {
  const listeners = new Set<(event: HostEvent) => void>();
  const queued = new Map<number, Waiting>();
  const sent = new Map<number, Waiting>();
  let socket: WebSocket | null = null;
  let attempts = 0;
  let lastId = 0;
  let refused = false;

  const emit = (event: HostEvent) => {
    for (const listener of listeners) listener(event);
  };
  const settle = (id: number, result: Result<unknown>) => {
    sent.get(id)?.resolve(result);
    sent.delete(id);
  };
  const flush = (target: WebSocket) => {
    for (const [id, waiting] of queued) {
      queued.delete(id);
      sent.set(id, waiting);
      target.send(waiting.message);
    }
  };
  const reconnect = async (wasOpen: boolean) => {
    if (!wasOpen && (await isRefused())) {
      refused = true;
      for (const waiting of queued.values()) waiting.resolve(REFUSED);
      queued.clear();
      return;
    }
    const delayMs = RECONNECT_DELAYS_MS[Math.min(attempts, RECONNECT_DELAYS_MS.length - 1)] ?? 0;
    attempts += 1;
    setTimeout(connect, delayMs);
  };
  const connect = () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const next = new WebSocket(`${scheme}://${location.host}/ws?token=${encodeURIComponent(token)}`);
    next.addEventListener("open", () => {
      socket = next;
      attempts = 0;
      flush(next);
      emit({ type: "connection", state: "open" });
    });
    next.addEventListener("message", (message) => {
      const incoming = JSON.parse(String(message.data)) as Incoming;
      if ("event" in incoming) emit(incoming.event);
      else settle(incoming.id, incoming.result);
    });
    next.addEventListener("close", () => {
      const wasOpen = socket === next;
      socket = null;
      for (const id of sent.keys()) {
        settle(
          id,
          failure("outcome-unknown", "The connection to Coppice broke before it answered", "Look at Activity to see what was done."),
        );
      }
      emit({ type: "connection", state: "lost" });
      void reconnect(wasOpen);
    });
  };
  connect();

  return {
    platform: /Mac/.test(navigator.userAgent) ? "darwin" : "linux",
    request(name, input) {
      if (refused) return Promise.resolve(REFUSED);
      if (queued.size >= QUEUE_MAX) return Promise.resolve(failure("io-failed", "Coppice is not connected", "Is it still running?"));
      lastId += 1;
      const id = lastId;
      return new Promise((resolve) => {
        queued.set(id, { message: JSON.stringify({ id, name, input }), resolve });
        if (socket) flush(socket);
      });
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    giveFile: (file, options) => uploadFile(token, file, options ?? {}),
  };
}

/** XMLHttpRequest, because `fetch` reports no progress of what it sends. */
function uploadFile(token: string, file: File, options: GiveFileOptions): Promise<Result<{ readonly path: string }>> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/upload?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("x-coppice-token", token);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => options.onProgress?.(event.loaded));
    request.addEventListener("load", () => {
      const answer = request.response as Result<{ readonly path: string }> | null;
      resolve(
        answer ??
          failure("io-failed", `Upload of ${file.name} was refused (HTTP ${request.status})`, "The file on your disk is unchanged."),
      );
    });
    request.addEventListener("error", () => resolve(failure("io-failed", `Upload of ${file.name} broke`, "Is Coppice still running?")));
    request.addEventListener("abort", () => resolve(failure("cancelled", `Upload of ${file.name} cancelled`, "Nothing was kept.")));
    options.signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
