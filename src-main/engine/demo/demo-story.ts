/**
 * What happened to the demo's shop: three ways to store money tried side by side, fixes, agents at work, one mistake taken
 * back and one attempt that made it into main. Plain data, carried out by `build-demo.ts`.
 */
export type DemoStep =
  | {
      readonly do: "fork";
      readonly from: string;
      readonly at?: string;
      readonly branch: string;
      readonly ttlMs?: number;
      readonly meta?: Readonly<Record<string, string>>;
    }
  /** Runs in the branch's file. */
  | { readonly do: "sql"; readonly branch: string; readonly sql: string }
  | { readonly do: "checkpoint"; readonly branch: string; readonly name: string; readonly message?: string }
  | { readonly do: "rollback"; readonly branch: string; readonly to: string }
  | { readonly do: "promote"; readonly source: string; readonly onto: string }
  | { readonly do: "label"; readonly branch: string; readonly status: "pass" | "fail" | "running" }
  | { readonly do: "protect"; readonly branch: string };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function about(description: string): Readonly<Record<string, string>> {
  return { description };
}

const MAIN_IN_NOVEMBER: readonly DemoStep[] = [
  { do: "checkpoint", branch: "main", name: "seed-2026-11" },
  { do: "protect", branch: "main" },
  { do: "fork", from: "main", at: "seed-2026-11", branch: "try-cents", meta: about("Store money as whole cents instead of a fraction") },
  { do: "fork", from: "main", at: "seed-2026-11", branch: "try-enum", ttlMs: DAY, meta: about("Order states as numbers") },
  {
    do: "sql",
    branch: "main",
    sql: "UPDATE orders SET status = 'shipped' WHERE status = 'paid' AND id <= 19000; UPDATE products SET stock = stock + 40 WHERE stock < 10;",
  },
  { do: "checkpoint", branch: "main", name: "nightly-11-29", message: "Nightly run of 29 November" },
  {
    do: "sql",
    branch: "main",
    sql: "INSERT INTO customers SELECT 4000 + id, name, 'new-' || email, city, country, 0, NULL FROM customers WHERE id <= 25; UPDATE orders SET status = 'cancelled' WHERE status = 'new' AND id < 17000;",
  },
  { do: "checkpoint", branch: "main", name: "q4-close", message: "Books closed for the quarter" },
];

const CENTS: readonly DemoStep[] = [
  {
    do: "sql",
    branch: "try-cents",
    sql: "ALTER TABLE products ADD COLUMN price_cents INTEGER; UPDATE products SET price_cents = CAST(round(price * 100) AS INTEGER);",
  },
  { do: "checkpoint", branch: "try-cents", name: "cents-v1", message: "Prices in cents" },
  {
    do: "fork",
    from: "try-cents",
    at: "cents-v1",
    branch: "fix/tax-rounding",
    meta: about("VAT of a line is rounded once, not per piece"),
  },
  {
    do: "sql",
    branch: "try-cents",
    sql: "ALTER TABLE orders ADD COLUMN total_cents INTEGER; UPDATE orders SET total_cents = CAST(round(total * 100) AS INTEGER);",
  },
  { do: "checkpoint", branch: "try-cents", name: "cents-v2", message: "Totals in cents" },
  { do: "label", branch: "try-cents", status: "pass" },
  {
    do: "fork",
    from: "try-cents",
    at: "cents-v2",
    branch: "try-cents-null-safe",
    ttlMs: DAY,
    meta: about("Refuse orders without a total"),
  },
  {
    do: "sql",
    branch: "try-cents-null-safe",
    sql: "CREATE TRIGGER total_needed BEFORE INSERT ON orders WHEN new.total_cents IS NULL BEGIN SELECT RAISE(ABORT, 'total_cents is needed'); END; UPDATE orders SET total_cents = NULL WHERE status = 'cancelled' AND id % 9 = 0;",
  },
  { do: "checkpoint", branch: "try-cents-null-safe", name: "null-safe", message: "Trigger in place; breaks the importer" },
  { do: "label", branch: "try-cents-null-safe", status: "fail" },
  { do: "sql", branch: "fix/tax-rounding", sql: "UPDATE order_lines SET price = round(price * 1.19, 2) / 1.19 WHERE order_id > 19000;" },
  { do: "checkpoint", branch: "fix/tax-rounding", name: "rounded-once" },
  { do: "label", branch: "fix/tax-rounding", status: "pass" },
];

const SPLIT: readonly DemoStep[] = [
  { do: "fork", from: "main", at: "q4-close", branch: "try-split", meta: about("Move totals out of orders, keep the view") },
  {
    do: "sql",
    branch: "try-split",
    sql: "CREATE TABLE order_totals (order_id INTEGER PRIMARY KEY REFERENCES orders(id), total_cents INTEGER NOT NULL);",
  },
  { do: "checkpoint", branch: "try-split", name: "after-ddl", message: "Empty order_totals" },
  { do: "sql", branch: "try-split", sql: "INSERT INTO order_totals SELECT id, CAST(round(total * 100) AS INTEGER) FROM orders;" },
  { do: "checkpoint", branch: "try-split", name: "copied-totals", message: "20,000 totals copied" },
  {
    do: "sql",
    branch: "try-split",
    sql: "DROP VIEW customer_revenue; CREATE VIEW customer_revenue AS SELECT c.id, c.name, count(o.id) AS orders, sum(t.total_cents) / 100.0 AS revenue FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.status <> 'cancelled' LEFT JOIN order_totals t ON t.order_id = o.id GROUP BY c.id;",
  },
  { do: "checkpoint", branch: "try-split", name: "split-ready", message: "The view reads the new table" },
  {
    do: "fork",
    from: "try-split",
    at: "split-ready",
    branch: "try-split-backfill",
    ttlMs: 30 * HOUR,
    meta: about("Totals of orders that the shop no longer lists"),
  },
  {
    do: "sql",
    branch: "try-split-backfill",
    sql: "CREATE TABLE archived_totals AS SELECT order_id, total_cents FROM order_totals WHERE order_id % 6 = 0;",
  },
  { do: "label", branch: "try-split-backfill", status: "running" },
  ...["attempt-01", "attempt-02", "attempt-03", "attempt-04"].map((branch): DemoStep => ({
    do: "fork",
    from: "try-split",
    at: "split-ready",
    branch,
    ttlMs: 6 * HOUR,
  })),
  { do: "sql", branch: "attempt-02", sql: "CREATE INDEX order_totals_large ON order_totals(total_cents) WHERE total_cents > 100000;" },
  { do: "checkpoint", branch: "attempt-02", name: "indexed", message: "Large orders have an index" },
  { do: "label", branch: "attempt-01", status: "fail" },
  { do: "label", branch: "attempt-02", status: "pass" },
  { do: "label", branch: "attempt-03", status: "fail" },
  { do: "label", branch: "attempt-04", status: "fail" },
  {
    do: "sql",
    branch: "try-split",
    sql: "DELETE FROM order_totals WHERE order_id IN (SELECT id FROM orders WHERE status = 'cancelled'); UPDATE orders SET status = 'refunded' WHERE id % 300 = 0;",
  },
];

const FIXES: readonly DemoStep[] = [
  { do: "fork", from: "main", at: "q4-close", branch: "fix/refunds", meta: about("Refunds lost their date") },
  {
    do: "sql",
    branch: "fix/refunds",
    sql: "UPDATE orders SET refunded_at = placed_at WHERE status = 'refunded' AND refunded_at IS NULL; UPDATE orders SET status = 'refunded', refunded_at = '2026-11-28T09:00:00.000Z' WHERE id BETWEEN 19500 AND 19520;",
  },
  { do: "checkpoint", branch: "fix/refunds", name: "dates-back", message: "21 refunds dated" },
  { do: "fork", from: "fix/refunds", at: "dates-back", branch: "fix/refunds-partial", meta: about("Refund single lines") },
  {
    do: "sql",
    branch: "fix/refunds-partial",
    sql: "ALTER TABLE order_lines ADD COLUMN refunded INTEGER NOT NULL DEFAULT 0; UPDATE order_lines SET refunded = 1 WHERE order_id BETWEEN 19500 AND 19520 AND line = 1;",
  },
  { do: "checkpoint", branch: "fix/refunds-partial", name: "first-lines" },
  { do: "label", branch: "fix/refunds-partial", status: "pass" },
  { do: "sql", branch: "fix/refunds", sql: "DELETE FROM order_events WHERE became = 'refunded' AND id % 2 = 0;" },
  { do: "fork", from: "main", at: "q4-close", branch: "fix/vat-2027", meta: about("Rates from January on") },
  {
    do: "sql",
    branch: "fix/vat-2027",
    sql: "CREATE TABLE vat_rates (country TEXT PRIMARY KEY, percent REAL NOT NULL, valid_from TEXT NOT NULL); INSERT INTO vat_rates SELECT DISTINCT country, 20.0, '2027-01-01' FROM customers;",
  },
  { do: "checkpoint", branch: "fix/vat-2027", name: "rates-2027", message: "10 countries" },
  { do: "label", branch: "fix/vat-2027", status: "pass" },
];

const AGENTS: readonly DemoStep[] = [
  {
    do: "fork",
    from: "try-cents",
    at: "cents-v2",
    branch: "agent/2026-11-30/support-triage-16",
    ttlMs: HOUR,
    meta: { agent: "support-triage", run: "16" },
  },
  {
    do: "fork",
    from: "try-cents",
    at: "cents-v2",
    branch: "agent/2026-11-30/support-triage-17",
    ttlMs: HOUR,
    meta: { agent: "support-triage", run: "17" },
  },
  {
    do: "fork",
    from: "main",
    at: "q4-close",
    branch: "agent/2026-11-30/refund-audit-04",
    ttlMs: 2 * HOUR,
    meta: { agent: "refund-audit", run: "04" },
  },
  {
    do: "fork",
    from: "main",
    at: "nightly-11-29",
    branch: "agent/2026-11-29/nightly-summary",
    ttlMs: 12 * HOUR,
    meta: { agent: "nightly-summary" },
  },
  {
    do: "sql",
    branch: "agent/2026-11-30/support-triage-17",
    sql: "INSERT INTO order_events(order_id, was, became) VALUES (19871, 'shipped', 'question'), (19902, 'paid', 'question'), (19955, 'shipped', 'damaged'); UPDATE customers SET note = 'Waits for an answer since Monday.' WHERE id IN (11, 47, 3050);",
  },
  { do: "label", branch: "agent/2026-11-30/support-triage-16", status: "pass" },
  { do: "label", branch: "agent/2026-11-30/support-triage-17", status: "running" },
  {
    do: "sql",
    branch: "agent/2026-11-30/refund-audit-04",
    sql: "DELETE FROM order_lines WHERE order_id IN (SELECT id FROM orders WHERE status = 'refunded' AND id > 15000); DELETE FROM orders WHERE status = 'refunded' AND id > 15000;",
  },
  { do: "checkpoint", branch: "agent/2026-11-30/refund-audit-04", name: "audit", message: "Deleted what it should have listed" },
  { do: "label", branch: "agent/2026-11-30/refund-audit-04", status: "fail" },
];

const MAIN_TODAY: readonly DemoStep[] = [
  { do: "fork", from: "main", at: "nightly-11-29", branch: "load-test", ttlMs: 2 * DAY, meta: about("Ten times the events") },
  { do: "fork", from: "main", at: "q4-close", branch: "staging-copy" },
  { do: "label", branch: "staging-copy", status: "pass" },
  { do: "sql", branch: "main", sql: "UPDATE products SET price = round(price * 0.9, 2);" },
  { do: "checkpoint", branch: "main", name: "black-friday", message: "Ten percent off everything" },
  { do: "rollback", branch: "main", to: "q4-close" },
  { do: "promote", source: "attempt-02", onto: "main" },
  {
    do: "sql",
    branch: "main",
    sql: "UPDATE products SET stock = stock - 1 WHERE id % 50 = 0; UPDATE orders SET status = 'paid' WHERE status = 'new' AND id > 19900;",
  },
];

export const DEMO_STORY: readonly DemoStep[] = [...MAIN_IN_NOVEMBER, ...CENTS, ...SPLIT, ...FIXES, ...AGENTS, ...MAIN_TODAY];
