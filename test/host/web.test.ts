import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Result } from "#shared/result.ts";
import { serveWeb, type WebHost } from "../../src-main/web/serve.ts";

const WORKER = join(import.meta.dirname, "../support/memory-engine-worker.ts");
const UPLOAD_MAX = 1024 * 1024;

let folder = "";
let web: WebHost;
let cookie = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "coppice-web-"));
  web = await serveWeb({ configFolder: folder, port: 0, workerFile: WORKER, uploadBytesMax: UPLOAD_MAX });
  cookie = (await connect(tokenOf(web.newLink()))).cookie;
});
afterAll(async () => {
  await web.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
  readonly port?: number;
}

function ask({
  path,
  method = "GET",
  headers = {},
  body,
  port = web.port,
}: Asked): Promise<{ status: number; headers: IncomingMessage["headers"]; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

const tokenOf = (link: string): string => new URL(link).hash.replace("#token=", "");
const ourOrigin = (): string => `http://127.0.0.1:${web.port}`;

interface Connection {
  readonly socket: WebSocket;
  readonly cookie: string;
}

/** Rejects with the HTTP status of a refused upgrade. */
function connect(token: string, headers: Record<string, string> = {}, port = web.port): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?token=${token}`, { headers: { origin: ourOrigin(), ...headers } });
    let given = "";
    socket.on("upgrade", (response) => {
      given = response.headers["set-cookie"]?.[0] ?? "";
    });
    socket.on("open", () => resolve({ socket, cookie: given.split(";")[0] ?? "" }));
    socket.on("unexpected-response", (_request, response) => reject(new Error(`HTTP ${response.statusCode}`)));
    socket.on("error", reject);
  });
}

function converse(socket: WebSocket, message: unknown): Promise<{ id: number; result: Result<unknown> }> {
  return new Promise((resolve) => {
    const listener = (data: unknown) => {
      const answer = JSON.parse(String(data)) as { id?: number; result: Result<unknown> };
      if (answer.id === undefined) return;
      socket.off("message", listener);
      resolve({ id: answer.id, result: answer.result });
    };
    socket.on("message", listener);
    socket.send(JSON.stringify(message));
  });
}

test("WEB-1: a link works once; its browser comes back with the cookie, everybody else stays out", async () => {
  const token = tokenOf(web.newLink());
  const first = await connect(token);
  expect(first.cookie).toMatch(new RegExp(`^coppice-${web.port}=.{40,}$`));
  await expect(connect(token)).rejects.toThrow("HTTP 401");
  const reloaded = await connect(token, { cookie: first.cookie });
  const secondTab = await connect("", { cookie: `other=1; ${first.cookie}` });
  expect([reloaded.cookie, secondTab.cookie]).toEqual(["", ""]);
  for (const wrong of ["", "x", token.slice(1)]) await expect(connect(wrong)).rejects.toThrow("HTTP 401");
  await expect(connect("", { cookie: `coppice-${web.port}=guess` })).rejects.toThrow("HTTP 401");
  expect((await ask({ path: "/session", headers: { cookie: first.cookie } })).status).toBe(204);
  expect((await ask({ path: "/session" })).status).toBe(401);
  for (const { socket } of [first, reloaded, secondTab]) socket.close();
});

test("WEB-2: a foreign name that was pointed at this computer is refused, with or without a session", async () => {
  for (const host of [`evil.example:${web.port}`, "127.0.0.1", `127.0.0.1:${web.port + 1}`, `localhost.evil.example:${web.port}`]) {
    for (const path of ["/", "/session", "/upload?name=a.db"])
      expect((await ask({ path, headers: { host, cookie } })).status, `${host} ${path}`).toBe(421);
    await expect(connect("", { host, cookie }), host).rejects.toThrow("HTTP 403");
  }
  expect((await ask({ path: "/session", headers: { host: `localhost:${web.port}`, cookie } })).status).toBe(204);
});

test("WEB-3: another page's requests are refused even with the cookie", async () => {
  for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${web.port + 1}`, `https://127.0.0.1:${web.port}`]) {
    await expect(connect("", { origin, cookie }), origin).rejects.toThrow("HTTP 403");
    expect((await ask({ path: "/upload?name=a.db", method: "POST", headers: { origin, cookie } })).status, origin).toBe(403);
  }
  expect((await ask({ path: "/upload?name=a.db", method: "POST", headers: { cookie } })).status).toBe(403);
  expect((await ask({ path: "/upload?name=a.db", method: "POST", headers: { origin: ourOrigin() } })).status).toBe(401);
});

test("WEB-4: nothing outside the screens' folder is readable", async () => {
  for (const path of [
    "/../package.json",
    "/%2e%2e/package.json",
    "/..%2fpackage.json",
    "/..%5cpackage.json",
    "/%00",
    "/%",
    "//etc/passwd",
    "/assets",
    "/nothing.js",
    "/index.html/x",
  ]) {
    expect((await ask({ path })).status, path).toBe(404);
  }
  expect((await ask({ path: "/", method: "DELETE" })).status).toBe(405);
});

test("WEB-5: requests are answered by their id; what is no message ends the connection", async () => {
  const { socket } = await connect("", { cookie });
  expect(await converse(socket, { id: 4, name: "app.hello", input: {} })).toMatchObject({
    id: 4,
    result: { ok: true, result: { host: "web", contractVersion: 1, store: null } },
  });
  expect(await converse(socket, { id: 5, name: "app.hello", input: { surplus: 1 } })).toMatchObject({
    id: 5,
    result: { ok: false, error: { code: "bad-argument" } },
  });
  expect(await converse(socket, { id: 6, name: ["x"], input: null })).toMatchObject({
    id: 6,
    result: { ok: false, error: { code: "bad-argument" } },
  });
  expect(await converse(socket, { id: 7, name: "app.chooseFile", input: { title: "Open" } })).toMatchObject({
    result: { ok: false, error: { code: "unsupported" } },
  });
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  socket.send("{ no json");
  expect(await closed).toBe(1008);
  const large = (await connect("", { cookie })).socket;
  const ended = new Promise<number>((resolve) => large.on("close", resolve));
  large.send("x".repeat(9 * 1024 * 1024));
  expect(await ended).toBe(1009);
});

async function upload(name: string, body: Buffer, headers: Record<string, string> = {}): Promise<Result<{ path: string }>> {
  const answer = await ask({
    path: `/upload?name=${encodeURIComponent(name)}`,
    method: "POST",
    headers: { origin: ourOrigin(), cookie, ...headers },
    body,
  });
  return JSON.parse(answer.body) as Result<{ path: string }>;
}

test("WEB-6: a dropped file arrives whole under its own name, and its side files beside it", async () => {
  const body = Buffer.alloc(700_000, 7);
  const main = await upload("Käufe ü.db", body);
  const wal = await upload("Käufe ü.db-wal", Buffer.from("wal"));
  if (!main.ok || !wal.ok) throw new Error("refused");
  expect(readFileSync(main.result.path)).toEqual(body);
  expect(basename(main.result.path)).toBe("Käufe ü.db");
  expect(dirname(wal.result.path)).toBe(dirname(main.result.path));
  const again = await upload("Käufe ü.db", Buffer.from("other"));
  expect(again.ok && dirname(again.result.path)).not.toBe(dirname(main.result.path));
});

test("WEB-7: an upload that is too large, or named to lead elsewhere, is refused and leaves nothing", async () => {
  expect(await upload("big.db", Buffer.alloc(UPLOAD_MAX + 1))).toMatchObject({
    ok: false,
    error: { code: "bad-argument", untouched: "Nothing was kept." },
  });
  for (const name of ["", ".", "..", "a/..", "x\0y", "n".repeat(256)])
    expect(await upload(name, Buffer.from("x")), name).toMatchObject({ ok: false, error: { code: "bad-argument" } });
  const inside = await upload("../../etc/passwd", Buffer.from("x"));
  expect(inside.ok && inside.result.path.startsWith(join(tmpdir(), "coppice-upload-"))).toBe(true);
  expect(inside.ok && basename(inside.result.path)).toBe("passwd");
});

test("WEB-9: uploads leave with the host", async () => {
  const other = await serveWeb({ configFolder: folder, port: 0, workerFile: WORKER });
  const origin = `http://127.0.0.1:${other.port}`;
  const { cookie: session } = await connect(tokenOf(other.newLink()), { origin }, other.port);
  const headers = { origin, cookie: session, host: `127.0.0.1:${other.port}` };
  const sent = await ask({ path: "/upload?name=a.db", method: "POST", headers, body: Buffer.from("x"), port: other.port });
  const { path } = (JSON.parse(sent.body) as { result: { path: string } }).result;
  expect(existsSync(path)).toBe(true);
  await other.close();
  expect(existsSync(path)).toBe(false);
});

test("WEB-8: events reach every tab", async () => {
  const tabs = [await connect("", { cookie }), await connect("", { cookie })];
  const events = tabs.map(
    ({ socket }) =>
      new Promise((resolve) => socket.on("message", (data) => String(data).includes("store-changed") && resolve(JSON.parse(String(data))))),
  );
  const socket = tabs[0]?.socket;
  if (!socket) throw new Error("no tab");
  await converse(socket, { id: 1, name: "store.open", input: { spec: "a" } });
  await converse(socket, { id: 2, name: "branch.setMeta", input: { database: "shop", branch: "main", meta: {} } });
  for (const event of await Promise.all(events)) expect(event).toMatchObject({ event: { type: "store-changed" } });
  for (const tab of tabs) tab.socket.close();
});
