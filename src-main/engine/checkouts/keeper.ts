/**
 * The keeper: a child process that touches checkouts for a program which may have SQLite connections of its own on them
 * (see `checkout-files.ts`). It ends with its parent; its locks end with it.
 */
import { assert } from "#shared/assert.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { EngineError, toErrorView } from "../io/errors.ts";
import { loadNative } from "../io/load-native.ts";
import { nodeDisk } from "../io/node-disk.ts";
import type { KnownFact } from "./checkout-files.ts";
import { DirectCheckoutFiles } from "./direct-checkout-files.ts";
import type { HeldFile } from "./held-file.ts";
import type { FirstLook, HoldId, KeeperCallName, KeeperCalls, KeeperReply, KeeperRequest } from "./keeper-protocol.ts";

/** Changed pages up to this size come with the hold. */
const FIRST_LOOK_BYTES_MAX = 512 * 1024;

interface Hold {
  readonly checkout: HeldFile;
  hashes: Uint8Array;
  batches: AsyncIterable<PageBatch> | null;
  reader: AsyncIterator<PageBatch> | null;
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
  const cancellable = <T>(id: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const controller = new AbortController();
    copies.set(id, controller);
    return act(controller.signal).finally(() => copies.delete(id));
  };
  let lastHold = 0;
  const held = (id: HoldId): Hold => {
    const hold = holds.get(id);
    assert(hold, `hold ${id} exists`);
    return hold;
  };
  return {
    hold: async ({ path, mode, waitMs, known }) => {
      const hold = { checkout: await files.hold(path, mode, waitMs), hashes: new Uint8Array(0), batches: null, reader: null };
      lastHold += 1;
      const id = lastHold;
      holds.set(id, hold);
      return { hold: id, look: known === null ? null : await lookAtOnce(hold, known) };
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
    shape: async ({ hold }) => held(hold).checkout.shape(),
    fold: async ({ hold, written }) => held(hold).checkout.fold(written),
    swap: async ({ hold, finished }) => held(hold).checkout.swap(finished),
    remove: async ({ hold }) =>
      held(hold)
        .checkout.remove()
        .then(() => null),
    retire: async ({ hold, to }) => held(hold).checkout.retire(to),
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
    copy: async ({ path, fingerprint, to }, { id }) => cancellable(id, (signal) => files.copy(path, fingerprint, to, { signal })),
    sharedPlaces: async ({ paths }) => files.sharedPlaces(paths),
    readPages: async ({ path, numbers, pageSize }) => files.readPages(path, numbers, pageSize),
    copySource: async (request, { id, progress }) => cancellable(id, (signal) => files.copySource(request, { signal, progress })),
    cancel: async ({ request }) => {
      copies.get(request)?.abort();
      return null;
    },
  };
}

/** Whatever fails here is met again by the call that needs it. */
async function lookAtOnce(hold: Hold, known: KnownFact): Promise<FirstLook | null> {
  try {
    const changes = await findChanges(hold, { ...known, hold: 0, hasHashes: false });
    if (changes === null) return null;
    const shape = hold.checkout.shape();
    if (changes.candidates === 0) return { changes, pages: null, shape };
    const pages = changes.candidates * changes.pageSize <= FIRST_LOOK_BYTES_MAX ? await readOnlyBatch(hold) : null;
    return { changes, pages, shape, fingerprint: await hold.checkout.fingerprint() };
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
}

/** So few pages are one batch. */
async function readOnlyBatch(hold: Hold): Promise<PageBatch | null> {
  for await (const batch of hold.batches ?? []) return batch;
  return null;
}

async function findChanges(hold: Hold, known: KeeperCalls["changes"]["input"]): Promise<KeeperCalls["changes"]["output"]> {
  try {
    const changes = await hold.checkout.changes({
      ...known,
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

function start(temporary: string | undefined, shadows: string | undefined): void {
  assert(temporary && process.send, "the keeper is started by a program, which names its temporary folder");
  const handlers = createHandlers(new DirectCheckoutFiles({ disk: nodeDisk, native: loadNative(), temporary, shadows }));
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

start(process.argv[2], process.argv[3]);
