import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findPeer, PEER_NAMES } from "#bench/peers/find-program.ts";
import { OffshootStore } from "#bench/peers/offshoot.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

/** Stands for the program outside: notes how it is called, and answers as little as it has to. */
const FAKE = `
import { appendFileSync } from "node:fs";
import { createServer } from "node:net";
const args = process.argv.slice(2);
appendFileSync(process.env.FAKE_LOG, JSON.stringify(args) + "\\n");
const answers = { version: "offshoot v0.2.12 go1.27.1 linux/amd64", checkout: "/somewhere/shop/main.db" };
if (args[0] === "serve") {
  const server = createServer((socket) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf("\\n")) >= 0; text = text.slice(end + 1)) {
        const request = JSON.parse(text.slice(0, end));
        appendFileSync(process.env.FAKE_LOG, JSON.stringify(request) + "\\n");
        const refused = request.branch === "taken" ? { ok: false, error: "already open here" } : { ok: true, checkout: "/live/" + request.branch + ".db" };
        const reply = JSON.stringify(refused) + "\\n";
        // In two parts, as a socket may deliver it.
        socket.write(reply.slice(0, 5));
        setTimeout(() => socket.write(reply.slice(5)), 5);
      }
    });
  });
  setTimeout(() => server.listen(args[2]), 50);
  process.on("SIGTERM", () => {
    appendFileSync(process.env.FAKE_LOG, JSON.stringify(["SIGTERM"]) + "\\n");
    process.exit(0);
  });
} else if (args.includes("broken")) {
  console.error("offshoot: no such branch");
  process.exit(1);
} else {
  console.log(answers[args[0]] ?? "");
}
`;

function makeFake(name = "offshoot"): { program: string; folder: string; env: NodeJS.ProcessEnv; calls: () => unknown[] } {
  const folder = makeTemporaryFolder();
  const script = join(folder, "fake.mjs");
  const log = join(folder, "log");
  const program = join(folder, name);
  writeFileSync(script, FAKE);
  writeFileSync(log, "");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  chmodSync(program, 0o755);
  const calls = () =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  return { program, folder, env: { ...process.env, FAKE_LOG: log }, calls };
}

test("SUITE-6: a peer is a program on PATH, told with its version; anything else is missing", () => {
  const { folder, env } = makeFake();
  const before = process.env["FAKE_LOG"];
  process.env["FAKE_LOG"] = env["FAKE_LOG"];
  onTestFinished(() => {
    if (before === undefined) delete process.env["FAKE_LOG"];
    else process.env["FAKE_LOG"] = before;
  });
  const empty = makeTemporaryFolder();
  mkdirSync(join(empty, "sqldiff"));
  writeFileSync(join(empty, "sqlite3"), "not a program");
  const found = findPeer("offshoot", [empty, folder].join(delimiter));
  expect(found).toEqual({ name: "offshoot", path: join(folder, "offshoot"), version: "offshoot v0.2.12 go1.27.1 linux/amd64" });
  expect(PEER_NAMES.map((name) => findPeer(name, empty))).toEqual([null, null, null, null]);
  expect(findPeer("offshoot", "")).toBeNull();
});

test("SUITE-6: offshoot is driven by exactly its own verbs", () => {
  const { program, env, calls } = makeFake();
  const store = new OffshootStore(program, "/data/store", env);
  expect(store.version()).toBe("offshoot v0.2.12 go1.27.1 linux/amd64");
  store.init();
  store.create("shop", "/data/shop.db");
  store.fork("shop", "main", "try");
  store.fork("shop", "main", "try-2", "start");
  expect(store.checkout("shop", "try")).toBe("/somewhere/shop/main.db");
  store.checkpoint("shop", "try", "done");
  store.rollback("shop", "try", "start");
  store.promote("shop", "try", "main");
  store.destroy("shop", "try");
  store.status();
  const spec = ["-store", "/data/store"];
  expect(calls()).toEqual([
    ["version"],
    ["init", ...spec],
    ["create", "shop", "--from", "/data/shop.db", ...spec],
    ["fork", "shop@main", "try", ...spec],
    ["fork", "shop@main", "try-2", "--at", "start", ...spec],
    ["checkout", "shop@try", ...spec],
    ["checkpoint", "shop@try", "done", ...spec],
    ["rollback", "shop@try", "--to", "start", ...spec],
    ["promote", "shop@try", "--onto", "main", "--force", ...spec],
    ["destroy", "shop@try", ...spec],
    ["status", ...spec],
  ]);
  expect(() => store.destroy("shop", "broken")).not.toThrow();
  expect(() => store.checkpoint("shop", "main", "broken")).toThrow("offshoot: no such branch");
});

test("SUITE-6: offshoot's daemon is spoken to over its socket, and ends with the step", async () => {
  const { program, folder, env, calls } = makeFake();
  const daemon = await new OffshootStore(program, "/data/store", env).serve(join(folder, "s"));
  await daemon.fork("shop", "main", "try");
  expect(await daemon.open("shop", "try")).toBe("/live/try.db");
  await expect(daemon.open("shop", "taken")).rejects.toThrow("offshoot refused open: already open here");
  await daemon.close("shop", "try");
  await daemon.destroy("shop", "try");
  await daemon.stop();
  await daemon.stop();
  expect(calls()).toEqual([
    ["serve", "-socket", join(folder, "s"), "-store", "/data/store"],
    { op: "fork", db: "shop", branch: "main", name: "try" },
    { op: "open", db: "shop", branch: "try" },
    { op: "open", db: "shop", branch: "taken" },
    { op: "close", db: "shop", branch: "try" },
    { op: "destroy", db: "shop", branch: "try" },
    ["SIGTERM"],
  ]);
});

test("SUITE-6: a daemon that does not come up is ended, and said to be missing", async () => {
  const { folder, env } = makeFake();
  const program = join(folder, "silent");
  writeFileSync(program, "#!/bin/sh\nexit 3\n");
  chmodSync(program, 0o755);
  await expect(new OffshootStore(program, "/data/store", env).serve(join(folder, "s"))).rejects.toThrow("offshoot's daemon did not start");
});
