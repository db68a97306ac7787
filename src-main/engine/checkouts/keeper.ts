/**
 * The keeper: a child process that touches checkouts for a program which may have SQLite connections of its own on them
 * (see `checkout-files.ts`). It ends with its parent; its locks end with it.
 */
import { assert } from "#shared/assert.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { toErrorView } from "../io/errors.ts";
import { loadNative } from "../io/load-native.ts";
import { nodeDisk } from "../io/node-disk.ts";
import { BatchFeed } from "./batch-feed.ts";
import type { HeldCheckout } from "./checkout-files.ts";
import { DirectCheckoutFiles } from "./direct-checkout-files.ts";
import type { HoldId, KeeperCallName, KeeperCalls, KeeperReply, KeeperRequest } from "./keeper-protocol.ts";

interface Hold {
  readonly checkout: HeldCheckout;
  hashes: Uint8Array;
  batches: AsyncIterable<PageBatch> | null;
  reader: AsyncIterator<PageBatch> | null;
  patch: { readonly feed: BatchFeed; readonly done: Promise<unknown> } | null;
}

interface Turn {
  readonly id: number;
  readonly progress: (done: number, total: number) => void;
}

type Handlers = { [K in KeeperCallName]: (input: KeeperCalls[K]["input"], turn: Turn) => Promise<KeeperCalls[K]["output"]> };

/** Says, inside `changes`, that a scan needs the hashes that have not been sent. */
class HashesNeeded extends Error {}

function createHandlers(files: DirectCheckoutFiles): Handlers {
  const holds = new Map<HoldId, Hold>();
  const copies = new Map<number, AbortController>();
  let lastHold = 0;
  const held = (id: HoldId): Hold => {
    const hold = holds.get(id);
    assert(hold, `hold ${id} exists`);
    return hold;
  };
  return {
    hold: async ({ path, mode, waitMs }) => {
      const checkout = await files.hold(path, mode, waitMs);
      lastHold += 1;
      holds.set(lastHold, { checkout, hashes: new Uint8Array(0), batches: null, reader: null, patch: null });
      return lastHold;
    },
    changes: async (input) => findChanges(held(input.hold), input),
    hashes: async ({ hold, total, offset, bytes }) => {
      const target = held(hold);
      if (offset === 0) target.hashes = new Uint8Array(total);
      target.hashes.set(bytes, offset);
      return null;
    },
    batch: async ({ hold, restart }) => {
      const source = held(hold);
      assert(source.batches, "changes were found");
      if (restart || source.reader === null) source.reader = source.batches[Symbol.asyncIterator]();
      const next = await source.reader.next();
      return next.done ? null : next.value;
    },
    patchBegin: async ({ hold, pageSize, pageCount }) => {
      const feed = new BatchFeed();
      // The failure is told with the end; until then it only stops the batches.
      const done = held(hold)
        .checkout.patch({ pageSize, pageCount, batches: feed })
        .then(
          () => null,
          (error: unknown) => error ?? new Error("patch failed"),
        );
      void done.then(() => feed.abandon());
      held(hold).patch = { feed, done };
      return null;
    },
    patchBatch: async ({ hold, batch }) => {
      const { patch } = held(hold);
      assert(patch, "a patch has begun");
      await patch.feed.push(batch);
      return null;
    },
    patchEnd: async ({ hold, isComplete }) => {
      const { patch } = held(hold);
      assert(patch, "a patch has begun");
      patch.feed.end(isComplete ? "complete" : "broken");
      held(hold).patch = null;
      const failure = await patch.done;
      if (failure !== null && isComplete) throw failure;
      return null;
    },
    swap: async ({ hold, finished }) =>
      held(hold)
        .checkout.swap(finished)
        .then(() => null),
    remove: async ({ hold }) =>
      held(hold)
        .checkout.remove()
        .then(() => null),
    moveTo: async ({ hold, path }) =>
      held(hold)
        .checkout.moveTo(path)
        .then(() => null),
    fingerprint: async ({ hold }) => held(hold).checkout.fingerprint(),
    release: async ({ hold }) => {
      const { checkout } = held(hold);
      holds.delete(hold);
      await checkout.release();
      return null;
    },
    place: async ({ finished, path }) => files.place(finished, path),
    copy: async ({ path, fingerprint, to }) => files.copy(path, fingerprint, to),
    copySource: async (request, { id, progress }) => {
      const controller = new AbortController();
      copies.set(id, controller);
      return files.copySource(request, { signal: controller.signal, progress }).finally(() => copies.delete(id));
    },
    cancel: async ({ request }) => {
      copies.get(request)?.abort();
      return null;
    },
  };
}

async function findChanges(hold: Hold, known: KeeperCalls["changes"]["input"]): Promise<KeeperCalls["changes"]["output"]> {
  try {
    const changes = await hold.checkout.changes({
      fingerprint: known.fingerprint,
      pageSize: known.pageSize,
      pageHashes: async () => {
        if (!known.hasHashes) throw new HashesNeeded();
        return hold.hashes;
      },
    });
    hold.batches = changes.batches;
    hold.reader = null;
    hold.hashes = new Uint8Array(0);
    const { proof, pageSize, pageCount, candidates } = changes;
    return { proof, pageSize, pageCount, candidates };
  } catch (error) {
    if (error instanceof HashesNeeded) return null;
    throw error;
  }
}

/** The type of `output` follows from the name of the call, which TypeScript cannot see across a union. */
function handle<K extends KeeperCallName>(
  handlers: Handlers,
  request: { readonly call: K; readonly input: KeeperCalls[K]["input"] },
  turn: Turn,
): Promise<KeeperCalls[K]["output"]> {
  return handlers[request.call](request.input, turn);
}

function reply(message: KeeperReply): void {
  process.send?.(message);
}

function start(temporary: string | undefined): void {
  assert(temporary && process.send, "the keeper is started by a program, which names its temporary folder");
  const handlers = createHandlers(new DirectCheckoutFiles({ disk: nodeDisk, native: loadNative(), temporary }));
  process.on("message", (request: KeeperRequest) => {
    const progress = (done: number, total: number): void => reply({ id: request.id, progress: { done, total } });
    handle(handlers, request, { id: request.id, progress }).then(
      (output) => reply({ id: request.id, ok: true, output }),
      (error: unknown) => reply({ id: request.id, ok: false, error: toErrorView(error) }),
    );
  });
  // Ctrl-C goes to every process of the terminal: the program decides, and the keeper ends with it.
  process.on("SIGINT", () => undefined);
  // A patch that is under way is atomic wherever it stops.
  process.on("disconnect", () => process.exit(0));
}

start(process.argv[2]);
