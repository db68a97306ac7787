/**
 * The web host: the built screens, one WebSocket a tab and uploads, on loopback only.
 *
 *   GET  /…                  files of the screens
 *   GET  /session            204 with a session, 401 without: tells a page why its socket was refused
 *   GET  /ws?token=…         upgrade; up `{id, name, input}`, down `{id, result}` and `{event}`
 *   POST /upload?name=…      body = the file; answers `Result<{path}>`
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Result } from "#shared/result.ts";
import { EngineError, toErrorView } from "#engine/io/errors.ts";
import { Host } from "#host/host.ts";
import { Settings } from "#host/settings.ts";
import { readStaticFile } from "#host/static-files.ts";
import { Sessions } from "./session.ts";
import { Uploads } from "./uploads.ts";
import { webFace } from "./web-face.ts";

/** Requests of one tab that are on their way at once. */
const IN_FLIGHT_MAX = 2_048;
/** A tab that reads so slowly that this much waits for it is disconnected; it connects anew and asks again. */
const UNSENT_BYTES_MAX = 64 * 1024 * 1024;

export interface WebHostOptions {
  readonly configFolder: string;
  /** 0: any free port. */
  readonly port: number;
  /** Of an upload, for tests. */
  readonly uploadBytesMax?: number;
  /** Another engine worker, for tests. */
  readonly workerFile?: string;
}

export interface WebHost {
  readonly port: number;
  readonly host: Host;
  /** A link that works once. */
  newLink(): string;
  close(): Promise<void>;
}

interface Parts {
  readonly host: Host;
  readonly sessions: Sessions;
  readonly uploads: Uploads;
}

/** Listens on 127.0.0.1; throws `io-failed` when the port is taken. */
export async function serveWeb(options: WebHostOptions): Promise<WebHost> {
  const server = createServer();
  const port = await listen(server, options.port);
  const host = new Host(webFace, new Settings(options.configFolder), options.workerFile);
  const parts: Parts = { host, sessions: new Sessions(port), uploads: new Uploads(options.uploadBytesMax ?? LIMITS.uploadBytesMax) };
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LIMITS.messageBytesMax, clientTracking: true });
  server.on("request", (request, response) => void respond(parts, request, response));
  server.on("upgrade", (request, socket, head) => upgrade(parts, sockets, { request, socket, head }));
  const stopEvents = host.onEvent((event) => {
    const message = JSON.stringify({ event });
    for (const socket of sockets.clients) send(socket, message);
  });
  return {
    port,
    host,
    newLink: () => parts.sessions.newLink(),
    close: async () => {
      stopEvents();
      for (const socket of sockets.clients) socket.close(1001);
      server.close();
      await host.close();
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      parts.uploads.close();
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new EngineError("io-failed", `Port ${port} on 127.0.0.1 ${describeRefusal(error)}`, {
          cause: error,
          hint: "Choose another one with --port.",
        }),
      ),
    );
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function describeRefusal({ code }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return "is used by another program";
  return code === "EACCES" ? "is reserved for the administrator" : "cannot be used";
}

async function respond(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!parts.sessions.isAddressedToUs(request)) return refuse(response, 421);
  const url = new URL(request.url ?? "/", "http://host");
  if (request.method === "POST" && url.pathname === "/upload") return await upload(parts, request, response, url);
  if (request.method !== "GET" && request.method !== "HEAD") return refuse(response, 405);
  if (url.pathname === "/session") return refuse(response, parts.sessions.hasSession(request) ? 204 : 401);
  const file = await readStaticFile(url.pathname);
  if (!file) return refuse(response, 404);
  response.writeHead(200, file.headers).end(request.method === "HEAD" ? undefined : file.body);
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { "cache-control": "no-store" }).end();
}

async function upload(parts: Parts, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  if (!parts.sessions.isFromOurPage(request)) return refuse(response, 403);
  if (!parts.sessions.hasSession(request)) return refuse(response, 401);
  let result: Result<{ path: string }>;
  try {
    result = { ok: true, result: { path: await parts.uploads.receive(request, url.searchParams.get("name") ?? "") } };
  } catch (error) {
    result = { ok: false, error: toErrorView(error) };
  }
  // A refused body is not read to its end: the connection cannot be used again.
  response.writeHead(200, {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...(result.ok ? {} : { connection: "close" }),
  });
  response.end(JSON.stringify(result), () => {
    if (!result.ok) request.destroy();
  });
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function upgrade(parts: Parts, sockets: WebSocketServer, { request, socket, head }: Upgrade): void {
  const url = new URL(request.url ?? "/", "http://host");
  const reject = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  if (url.pathname !== "/ws") return void reject("404 Not Found");
  if (!parts.sessions.isFromOurPage(request)) return void reject("403 Forbidden");
  const cookie = parts.sessions.hasSession(request) ? null : parts.sessions.exchange(url.searchParams.get("token") ?? "");
  if (cookie === null && !parts.sessions.hasSession(request)) return void reject("401 Unauthorized");
  if (cookie !== null) sockets.once("headers", (headers: string[]) => headers.push(`Set-Cookie: ${cookie}`));
  sockets.handleUpgrade(request, socket, head, (webSocket) => talk(parts, webSocket));
}

function talk(parts: Parts, socket: WebSocket): void {
  let inFlight = 0;
  socket.on("error", () => socket.terminate());
  socket.on("message", (data, isBinary) => {
    const message = isBinary ? null : parseMessage(String(data));
    if (!message) return socket.close(1008);
    if (inFlight >= IN_FLIGHT_MAX) {
      const error = toErrorView(
        new EngineError("store-busy", `More than ${IN_FLIGHT_MAX} requests at once`, {
          retryable: true,
          untouched: "This request was not looked at.",
        }),
      );
      return send(socket, JSON.stringify({ id: message.id, result: { ok: false, error } }));
    }
    inFlight += 1;
    void parts.host.request(message.name, message.input).then((result) => {
      inFlight -= 1;
      // The store has its own copy now.
      if (result.ok && message.name === "database.create") releaseSource(parts.uploads, message.input);
      send(socket, JSON.stringify({ id: message.id, result }));
    });
  });
}

function releaseSource(uploads: Uploads, input: unknown): void {
  const { from } = input as RequestInput<"database.create">;
  if (from !== undefined) uploads.release(from);
}

function parseMessage(text: string): { readonly id: number; readonly name: unknown; readonly input: unknown } | null {
  try {
    const message = JSON.parse(text) as { id?: unknown; name?: unknown; input?: unknown } | null;
    return message && typeof message.id === "number" ? { id: message.id, name: message.name, input: message.input } : null;
  } catch {
    return null;
  }
}

function send(socket: WebSocket, message: string): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > UNSENT_BYTES_MAX) socket.terminate();
  else socket.send(message);
}
