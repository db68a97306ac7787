/**
 * The demo's database: a shop with a bit of everything that a SQLite file can hold. Deterministic: no clock, no entropy.
 */
import Database from "better-sqlite3";
import { Random } from "./random.ts";

const CUSTOMERS = 4_000;
const PRODUCTS = 600;
const ORDERS = 20_000;
/** 2026-01-01T00:00:00Z, in seconds; orders run on from here for eleven months. */
const FIRST_ORDER = 1_767_225_600;
const SECONDS_BETWEEN_ORDERS = 1_440;
/** Beyond 2^53: payment references do not fit a JavaScript number. */
const FIRST_PAYMENT = 9_007_199_254_740_993n;

const SCHEMA = `
  PRAGMA page_size = 4096;
  PRAGMA application_id = 0x73686f70;
  PRAGMA user_version = 12;
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, city TEXT, country TEXT NOT NULL, loyalty_points INTEGER, note TEXT);
  CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL, description TEXT, price REAL NOT NULL, stock INTEGER NOT NULL, picture BLOB);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), placed_at TEXT NOT NULL, status TEXT NOT NULL, total REAL NOT NULL, payment_ref INTEGER NOT NULL, refunded_at TEXT);
  CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders(id), line INTEGER NOT NULL, product_id INTEGER NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL, price REAL NOT NULL, PRIMARY KEY (order_id, line)) WITHOUT ROWID;
  CREATE TABLE order_events (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, was TEXT, became TEXT);
  CREATE INDEX orders_by_customer ON orders(customer_id);
  CREATE INDEX open_orders ON orders(placed_at) WHERE status IN ('new', 'paid');
  CREATE VIRTUAL TABLE products_fts USING fts5(name, description, content = 'products', content_rowid = 'id');
  CREATE VIEW customer_revenue AS SELECT c.id, c.name, count(o.id) AS orders, sum(o.total) AS revenue FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.status <> 'cancelled' GROUP BY c.id;`;

/** Made after the rows: the generator writes the index and no events itself. */
const TRIGGERS = `
  INSERT INTO products_fts(products_fts) VALUES ('rebuild');
  CREATE TRIGGER products_added AFTER INSERT ON products BEGIN INSERT INTO products_fts(rowid, name, description) VALUES (new.id, new.name, new.description); END;
  CREATE TRIGGER products_removed AFTER DELETE ON products BEGIN INSERT INTO products_fts(products_fts, rowid, name, description) VALUES ('delete', old.id, old.name, old.description); END;
  CREATE TRIGGER products_renamed AFTER UPDATE OF name, description ON products BEGIN
    INSERT INTO products_fts(products_fts, rowid, name, description) VALUES ('delete', old.id, old.name, old.description);
    INSERT INTO products_fts(rowid, name, description) VALUES (new.id, new.name, new.description);
  END;
  CREATE TRIGGER order_status AFTER UPDATE OF status ON orders WHEN old.status <> new.status BEGIN INSERT INTO order_events(order_id, was, became) VALUES (old.id, old.status, new.status); END;`;

const FIRST_NAMES = [
  "Anna",
  "Björn",
  "Chiara",
  "Đorđe",
  "Élodie",
  "Farid",
  "Grażyna",
  "Hana",
  "İpek",
  "Jan",
  "Kateřina",
  "Lars",
  "Мария",
  "Νίκος",
  "Óscar",
  "Priya",
  "Quinn",
  "Rūta",
  "Søren",
  "愛子",
] as const;
const LAST_NAMES = [
  "Andersson",
  "Bauer",
  "Conti",
  "Dvořák",
  "Eriksen",
  "Fischer",
  "García",
  "Horváth",
  "Ito",
  "Jensen",
  "Kowalski",
  "Lefèvre",
  "Müller",
  "Novák",
  "O’Brien",
  "Petrov",
  "Rossi",
  "Šimić",
  "Weiß",
  "Yılmaz",
] as const;
const CITIES = [
  ["Amsterdam", "NL"],
  ["Berlin", "DE"],
  ["Copenhagen", "DK"],
  ["Dublin", "IE"],
  ["Kraków", "PL"],
  ["Lyon", "FR"],
  ["Málaga", "ES"],
  ["Praha", "CZ"],
  ["Torino", "IT"],
  ["Zürich", "CH"],
] as const;
const QUALITIES = ["Classic", "Folding", "Heavy", "Light", "Quiet", "Small", "Solid", "Warm"] as const;
const MATERIALS = ["ash", "beech", "brass", "cotton", "hazel", "linen", "oak", "steel", "willow", "wool"] as const;
const THINGS = [
  "basket",
  "bench",
  "blanket",
  "bowl",
  "broom",
  "chair",
  "fence",
  "hurdle",
  "lamp",
  "ladder",
  "spoon",
  "stool",
  "table",
  "tray",
] as const;
const STATUSES = ["shipped", "shipped", "shipped", "shipped", "paid", "new", "cancelled", "refunded"] as const;
const NOTES = ["Rings twice.", "Asked for an invoice by post.", "Leave with the neighbour.", "Prefers e-mail."] as const;

/** Writes the shop (about 7 MiB) to `file`, which must not exist. The same bytes every time. */
export function writeDemoDatabase(file: string): void {
  const database = new Database(file);
  try {
    // A file that is thrown away when anything fails needs no journal.
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.pragma("foreign_keys = OFF");
    database.exec(SCHEMA);
    const random = new Random(20_261_130);
    database.transaction(() => {
      addCustomers(database, random);
      const prices = addProducts(database, random);
      addOrders(database, random, prices);
      database.exec(TRIGGERS);
    })();
  } finally {
    database.close();
  }
}

function addCustomers(database: Database.Database, random: Random): void {
  const add = database.prepare("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (let id = 1; id <= CUSTOMERS; id += 1) {
    const [city, country] = random.pick(CITIES);
    const name = `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;
    const points = random.chance(0.4) ? random.whole(0, 5_000) : null;
    add.run(
      id,
      name,
      `customer-${id}@example.com`,
      random.chance(0.95) ? city : null,
      country,
      points,
      random.chance(0.08) ? random.pick(NOTES) : null,
    );
  }
}

/** Returns the price of each product, by id; index 0 is unused. */
function addProducts(database: Database.Database, random: Random): number[] {
  const add = database.prepare("INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?)");
  const prices = [0];
  for (let id = 1; id <= PRODUCTS; id += 1) {
    const [quality, material, thing] = [random.pick(QUALITIES), random.pick(MATERIALS), random.pick(THINGS)];
    const price = random.whole(290, 24_900) / 100;
    const description = random.chance(0.9)
      ? `${quality} ${thing} made of ${material}, cut in winter. Weighs ${random.whole(1, 90) / 10} kg.`
      : null;
    add.run(
      id,
      `C-${String(id).padStart(4, "0")}`,
      `${quality} ${material} ${thing}`,
      description,
      price,
      random.whole(0, 400),
      random.chance(0.8) ? random.bytes(random.whole(2_000, 16_000)) : null,
    );
    prices.push(price);
  }
  return prices;
}

function addOrders(database: Database.Database, random: Random, prices: readonly number[]): void {
  const addOrder = database.prepare("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?)");
  const addLine = database.prepare("INSERT INTO order_lines VALUES (?, ?, ?, ?, ?)");
  for (let id = 1; id <= ORDERS; id += 1) {
    const placed = FIRST_ORDER + id * SECONDS_BETWEEN_ORDERS + random.whole(0, 1_400);
    const status = random.pick(STATUSES);
    let total = 0;
    const lines = random.whole(1, 4);
    for (let line = 1; line <= lines; line += 1) {
      const product = random.whole(1, PRODUCTS);
      const quantity = random.whole(1, 5);
      const price = prices[product] ?? 0;
      total += quantity * price;
      addLine.run(id, line, product, quantity, price);
    }
    const refunded = status === "refunded" ? isoTime(placed + random.whole(86_400, 864_000)) : null;
    addOrder.run(
      id,
      random.whole(1, CUSTOMERS),
      isoTime(placed),
      status,
      Math.round(total * 100) / 100,
      FIRST_PAYMENT + BigInt(id) * 7_919n,
      refunded,
    );
  }
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
