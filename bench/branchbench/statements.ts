/**
 * What a step does to its branch: the statements of the five workloads, written here from their description. All of a step
 * follows from seed, worker and step, so that the same step is the same wherever it runs. New columns are named after
 * worker and step: a branch inherits those of its ancestors.
 */
import { Random } from "#shared/bench-random.ts";
import type { Parameters, Workload } from "./parameters.ts";
import { DISTRICTS_PER_WAREHOUSE, type Scale } from "./schema.ts";

export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** `own`: the workload's queries. `lines`: the sum of amounts by warehouse, behind the published latencies of reads. */
export type Evaluation = "lines" | "own";

export interface StepIdentity {
  readonly workload: Workload;
  readonly worker: number;
  readonly step: number;
  readonly seed: number;
  readonly scale: Scale;
}

export interface StepStatements {
  readonly schema: readonly Statement[];
  readonly data: readonly Statement[];
  readonly queries: readonly Statement[];
}

const DAY = "2026-01-02 00:00:00";
const LINES_BY_WAREHOUSE = query("SELECT ol_w_id, sum(ol_amount) FROM order_line GROUP BY ol_w_id");
/** What a pass over all branches asks of each. */
export const TOTAL_OF_LINES = query("SELECT total(ol_amount) FROM order_line");
/** Streams of random numbers below this belong to workers' choices of parents. */
const STATEMENT_STREAM = 1_000_000;
const STEPS_PER_STREAM = 1_000;

/** The first statements of each list, as many as the parameters allow. */
export function statementsOf(identity: StepIdentity, parameters: Parameters, evaluation: Evaluation): StepStatements {
  const random = new Random(identity.seed, STATEMENT_STREAM + identity.worker * STEPS_PER_STREAM + identity.step);
  const found = BUILDERS[identity.workload](identity, random, parameters);
  const queries = evaluation === "own" ? found.queries : Array.from({ length: parameters.queries }, () => LINES_BY_WAREHOUSE);
  return {
    schema: found.schema.slice(0, parameters.schemaStatements),
    data: found.data.slice(0, parameters.dataStatements),
    queries: queries.slice(0, parameters.queries),
  };
}

/** The harness's query over all branches; null for workloads that have none. */
export function comparisonOf(workload: Workload): Statement | null {
  return COMPARISONS[workload];
}

const COMPARISONS: Readonly<Record<Workload, Statement | null>> = {
  simulation: query(
    "SELECT count(*) FILTER (WHERE s_quantity < 10), avg(ol_amount), min(ol_amount) FROM stock JOIN order_line ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_i_id <= 7500",
  ),
  data_cleaning: query("SELECT count(*) FILTER (WHERE c_balance IS NULL), max(c_ytd_payment) - min(c_ytd_payment) FROM customer"),
  software_dev: query("SELECT c_credit, count(*), avg(c_credit_lim) FROM customer GROUP BY c_credit"),
  mcts: null,
  failure_repro: null,
};

type Builder = (identity: StepIdentity, random: Random, parameters: Parameters) => StepStatements;

const BUILDERS: Readonly<Record<Workload, Builder>> = {
  simulation: ({ scale, worker, step }, random) => ({
    schema: [],
    data: simulationData(scale, random, FIRST_NEW_ORDER + worker * STEPS_PER_STREAM + step),
    queries: [
      query(
        "SELECT count(*) FILTER (WHERE s_quantity < 10), sum(ol_amount) FROM stock JOIN order_line ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_i_id <= 7500",
      ),
    ],
  }),
  data_cleaning: ({ worker, step }) => ({
    schema: [query(`ALTER TABLE customer ADD COLUMN cleaned_${suffix(worker, step)} BOOLEAN`)],
    data: [
      worker % 2 === 0
        ? query("UPDATE customer SET c_balance = 0 WHERE c_balance IS NULL")
        : query("DELETE FROM customer WHERE c_balance IS NULL"),
    ],
    queries: [query("SELECT count(*) FROM customer WHERE c_balance < 0")],
  }),
  software_dev: buildSoftwareDevelopment,
  mcts: ({ scale }, random) => ({
    schema: [],
    data: [takeFromStock(scale, random, 10)],
    queries: [query("SELECT w_name, sum(ol_amount) FROM order_line JOIN warehouse ON w_id = ol_supply_w_id GROUP BY w_id")],
  }),
  failure_repro: ({ scale, worker, step }, random) => ({
    schema: failureSchema(suffix(worker, step), step),
    data: failureData(scale, random, FIRST_NEW_ORDER + worker * STEPS_PER_STREAM + step),
    queries: [
      query(
        `SELECT count(*) FROM (SELECT o_lines, (SELECT count(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_i_id <= 15000) AS found
         FROM orders WHERE o_id > (SELECT max(o_id) FROM orders) - 100000) WHERE o_lines <> found`,
      ),
    ],
  }),
};

/** Ids of orders that no generated database has. */
const FIRST_NEW_ORDER = 10_000_000;
const SIMULATION_ORDERS = 16;
const FAILURE_LINES = 42;
const FAILURE_AMOUNTS = [-1, 0, 1, 50, 100] as const;

/** Writes what its one statement of schema added, and no column that is not there. */
function buildSoftwareDevelopment({ worker, step }: StepIdentity, _: Random, { schemaStatements }: Parameters): StepStatements {
  const tier = `tier_${suffix(worker, step)}`;
  const credit = `credit_${suffix(worker, step)}`;
  const copy = schemaStatements > 1 ? `, ${credit} = c_credit_lim` : "";
  const mean = schemaStatements > 1 ? credit : "c_credit_lim";
  return {
    schema: [query(`ALTER TABLE customer ADD COLUMN ${tier} TEXT(8)`), query(`ALTER TABLE customer ADD COLUMN ${credit} DECIMAL(12, 2)`)],
    data: [
      query(
        `UPDATE customer SET ${tier} = CASE WHEN c_ytd_payment > 9000 THEN 'gold' WHEN c_ytd_payment > 5000 THEN 'silver' ELSE 'bronze' END${copy}`,
      ),
    ],
    queries: [
      query(`SELECT count(*) FROM customer WHERE ${tier} IS NULL`),
      query(`SELECT ${tier}, count(*), avg(${mean}) FROM customer GROUP BY ${tier}`),
    ],
  };
}

/** 16 rounds of an order, its stock and a restock where it is low, then one line and its stock: 50 statements. */
function simulationData(scale: Scale, random: Random, order: number): Statement[] {
  const warehouse = 1 + random.below(scale.warehouses);
  const district = 1 + random.below(DISTRICTS_PER_WAREHOUSE);
  const statements: Statement[] = [];
  for (let round = 0; round < SIMULATION_ORDERS; round += 1)
    statements.push(
      insertOrder(scale, random, [warehouse, district, order * SIMULATION_ORDERS + round], 1),
      changeStock("UPDATE stock SET s_quantity = s_quantity - ? WHERE s_w_id = ? AND s_i_id = ?", [
        1 + random.below(5),
        warehouse,
        1 + random.below(scale.items),
      ]),
      changeStock("UPDATE stock SET s_quantity = s_quantity + 100 WHERE s_w_id = ? AND s_quantity < 10", [warehouse]),
    );
  const item = 1 + random.below(scale.items);
  statements.push(insertLine([warehouse, district, order * SIMULATION_ORDERS, 1], item, amount(random)), {
    sql: "UPDATE stock SET s_quantity = s_quantity - 1 WHERE s_w_id = ? AND s_i_id = ?",
    values: [warehouse, item],
  });
  return statements;
}

/** Even steps take the column back at once. */
function failureSchema(name: string, step: number): Statement[] {
  return [
    query(`ALTER TABLE order_line ADD COLUMN discount_${name} DECIMAL(6, 2)`),
    ...(step % 2 === 0 ? [query(`ALTER TABLE order_line DROP COLUMN discount_${name}`)] : []),
    query(`ALTER TABLE orders ADD COLUMN flag_${name} INTEGER`),
    query(`ALTER TABLE customer ADD COLUMN note_${name} TEXT`),
    query(`ALTER TABLE stock ADD COLUMN tag_${name} TEXT`),
  ];
}

/** An order that says it has 42 lines, paid, its lines deleted and inserted anew with odd amounts: 45 statements. */
function failureData(scale: Scale, random: Random, order: number): Statement[] {
  const warehouse = 1 + random.below(scale.warehouses);
  const district = 1 + random.below(DISTRICTS_PER_WAREHOUSE);
  const customer = 1 + random.below(scale.customersPerDistrict);
  return [
    insertOrder(scale, random, [warehouse, district, order], FAILURE_LINES),
    {
      sql: "UPDATE customer SET c_balance = c_balance - 72.50 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
      values: [warehouse, district, customer],
    },
    { sql: "DELETE FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", values: [warehouse, district, order] },
    ...Array.from({ length: FAILURE_LINES }, (_, line) =>
      insertLine(
        [warehouse, district, order, line + 1],
        1 + random.below(scale.items),
        FAILURE_AMOUNTS[random.below(FAILURE_AMOUNTS.length)] ?? 0,
      ),
    ),
  ];
}

function takeFromStock(scale: Scale, random: Random, most: number): Statement {
  const taken = 1 + random.below(most);
  return changeStock("UPDATE stock SET s_quantity = s_quantity - ? WHERE s_w_id = ? AND s_i_id = ? AND s_quantity >= ?", [
    taken,
    1 + random.below(scale.warehouses),
    1 + random.below(scale.items),
    taken,
  ]);
}

function changeStock(sql: string, values: readonly number[]): Statement {
  return { sql, values };
}

function insertOrder(
  scale: Scale,
  random: Random,
  [warehouse, district, order]: readonly [number, number, number],
  lines: number,
): Statement {
  return {
    sql: `INSERT OR IGNORE INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry, o_carrier, o_lines, o_all_local)
      VALUES (?, ?, ?, ?, ?, NULL, ?, 1)`,
    values: [warehouse, district, order, 1 + random.below(scale.customersPerDistrict), DAY, lines],
  };
}

function insertLine([warehouse, district, order, line]: readonly [number, number, number, number], item: number, paid: number): Statement {
  return {
    sql: `INSERT OR IGNORE INTO order_line
      (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery, ol_quantity, ol_amount, ol_dist)
      VALUES (?, ?, ?, ?, ?, ?, NULL, 1, ?, 'made by a step')`,
    values: [warehouse, district, order, line, item, warehouse, paid],
  };
}

function amount(random: Random): number {
  return (1 + random.below(999_999)) / 100;
}

function suffix(worker: number, step: number): string {
  return `${worker}_${step}`;
}

function query(sql: string): Statement {
  return { sql, values: [] };
}
