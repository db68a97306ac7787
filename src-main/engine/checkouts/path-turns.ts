/**
 * One at a time per file within this process. Two holds of one file here would close each other's descriptors, and a
 * closed descriptor drops the POSIX locks of every other one: SQLite could no longer keep anybody out. The same goes for
 * any other raw read of a file that may be a checkout.
 */

interface Turn {
  readonly start: () => void;
}

const waiting = new Map<string, Turn[]>();

/** Waits for the turn on a file, by its real path; returns what ends it, or null when it did not come within `waitMs`. */
export function takeTurn(key: string, waitMs: number): Promise<(() => void) | null> {
  const end = (): void => {
    const next = waiting.get(key)?.shift();
    if (next) next.start();
    else waiting.delete(key);
  };
  const queue = waiting.get(key);
  if (!queue) {
    waiting.set(key, []);
    return Promise.resolve(end);
  }
  return new Promise((settle) => {
    const turn: Turn = {
      start: () => {
        clearTimeout(timer);
        settle(end);
      },
    };
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(turn), 1);
      settle(null);
    }, waitMs);
    queue.push(turn);
  });
}
