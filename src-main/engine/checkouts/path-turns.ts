/**
 * One at a time per file within this process. Two holds of one file here would close each other's descriptors, and a
 * closed descriptor drops the POSIX locks of every other one: SQLite could no longer keep anybody out. The same goes for
 * any other raw read of a file that may be a checkout; but those that only read, and lock nothing, may share a turn.
 */

type TurnMode = "alone" | "shared";

interface Waiting {
  readonly mode: TurnMode;
  readonly start: () => void;
}

interface Place {
  holders: number;
  mode: TurnMode;
  readonly queue: Waiting[];
}

const places = new Map<string, Place>();

/** Waits for the turn on a file, by its real path; returns what ends it, or null when it did not come within `waitMs`. */
export function takeTurn(key: string, waitMs: number, mode: TurnMode = "alone"): Promise<(() => void) | null> {
  const end = (): void => endTurn(key);
  const place = places.get(key);
  if (!place) {
    places.set(key, { holders: 1, mode, queue: [] });
    return Promise.resolve(end);
  }
  if (mode === "shared" && place.mode === "shared" && place.queue.length === 0) {
    place.holders += 1;
    return Promise.resolve(end);
  }
  return new Promise((settle) => {
    const turn: Waiting = {
      mode,
      start: () => {
        clearTimeout(timer);
        settle(end);
      },
    };
    const timer = setTimeout(() => {
      place.queue.splice(place.queue.indexOf(turn), 1);
      settle(null);
      if (place.mode === "shared") startShared(place);
    }, waitMs);
    place.queue.push(turn);
  });
}

function endTurn(key: string): void {
  const place = places.get(key);
  if (!place) return;
  place.holders -= 1;
  if (place.holders > 0) return;
  const next = place.queue.shift();
  if (!next) {
    places.delete(key);
    return;
  }
  place.mode = next.mode;
  place.holders = 1;
  next.start();
  if (place.mode === "shared") startShared(place);
}

/** Those who wait first may join. */
function startShared(place: Place): void {
  while (place.queue[0]?.mode === "shared") {
    place.holders += 1;
    place.queue.shift()?.start();
  }
}

/** True while somebody waits to have the file alone: who shares the turn for long should give it up. */
export function isWantedAlone(key: string): boolean {
  return places.get(key)?.queue.some(({ mode }) => mode === "alone") ?? false;
}
