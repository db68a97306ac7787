/** What was asked for, checked against the suite before anything is made. */
import type { BenchSize, BenchSuiteView } from "#shared/bench-views.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { Order, Suite } from "../suite.ts";

/** The same data and the same decisions in every run, unless another seed is asked for. */
export const DEFAULT_SEED = 1;

export interface Asked {
  readonly size?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly seed?: number | undefined;
}

/** Options that were not named get their first value. Throws `bad-argument`, naming what there is. */
export function makeOrder(suite: Suite, { size = "quick", options = {}, seed = DEFAULT_SEED }: Asked): Order {
  const sizes = suite.sizes.map(({ id }) => id);
  if (!sizes.some((id) => id === size)) throw refuse(`The suite ${suite.id} has no size "${size}"`, sizes);
  const unknown = Object.keys(options).find((id) => !suite.options.some((option) => option.id === id));
  if (unknown !== undefined)
    throw refuse(
      `The suite ${suite.id} has no option "${unknown}"`,
      suite.options.map(({ id }) => id),
    );
  const chosen = suite.options.map((option) => {
    const values = option.values.map(({ id }) => id);
    const value = options[option.id] ?? values[0] ?? "";
    if (!values.includes(value)) throw refuse(`${option.id} cannot be "${value}"`, values);
    return [option.id, value] as const;
  });
  return { size: size as BenchSize, options: Object.fromEntries(chosen), seed };
}

/** The command that takes the run again. */
export function commandOf(suite: Suite, order: Order, folder: string): string {
  const changed = suite.options.filter(({ id, values }) => order.options[id] !== values[0]?.id);
  return [
    `coppice bench ${suite.id} --size ${order.size}`,
    ...changed.map(({ id }) => `--option ${id}=${order.options[id]}`),
    ...(order.seed === DEFAULT_SEED ? [] : [`--seed ${order.seed}`]),
    `--folder ${/^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", String.raw`'\''`)}'`}`,
  ].join(" ");
}

/** What screens and terminal offer to choose from. */
export function viewSuite(suite: Suite): BenchSuiteView {
  const { id, title, about, sizes, options } = suite;
  const order = makeOrder(suite, { size: sizes[0]?.id });
  return { id, title, about, sizes, options, steps: suite.plan(order).map((step) => ({ id: step.id, title: step.title })) };
}

function refuse(message: string, choices: readonly string[]): EngineError {
  return new EngineError("bad-argument", message, {
    hint: choices.length > 0 ? `Choose from ${choices.join(", ")}` : "It has none.",
    untouched: "Nothing was measured.",
    details: { choices },
  });
}
