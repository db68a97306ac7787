/** As `Promise.all`, but no work goes on behind the caller's back: throws the first failure once all have come to an end. */
export async function allDone<T>(work: Iterable<Promise<T>>): Promise<T[]> {
  const outcomes = await Promise.allSettled(work);
  return outcomes.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}
