/**
 * The tables that BranchBench works on: the order business of TPC-C (nine tables and their columns are public) with the
 * three of CH-benCHmark beside them, written here for SQLite. Foreign keys are declared; whether they are enforced is the
 * connection's choice (`FOREIGN_KEYS`).
 */

/** `PRAGMA foreign_keys` of every connection: off, because data cleaning deletes customers who have orders. */
export const FOREIGN_KEYS = "off";

export const SCHEMA = `
CREATE TABLE region (r_id INTEGER PRIMARY KEY, r_name TEXT NOT NULL, r_comment TEXT);
CREATE TABLE nation (n_id INTEGER PRIMARY KEY, n_name TEXT NOT NULL, n_region INTEGER NOT NULL REFERENCES region, n_comment TEXT);
CREATE TABLE supplier (su_id INTEGER PRIMARY KEY, su_name TEXT NOT NULL, su_address TEXT, su_nation INTEGER NOT NULL REFERENCES nation,
  su_phone TEXT, su_balance REAL NOT NULL, su_comment TEXT);
CREATE TABLE warehouse (w_id INTEGER PRIMARY KEY, w_name TEXT, w_street TEXT, w_city TEXT, w_state TEXT, w_zip TEXT, w_tax REAL, w_ytd REAL);
CREATE TABLE district (d_w_id INTEGER NOT NULL REFERENCES warehouse, d_id INTEGER NOT NULL, d_name TEXT, d_street TEXT, d_city TEXT,
  d_state TEXT, d_zip TEXT, d_tax REAL, d_ytd REAL, d_next_o_id INTEGER NOT NULL, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (c_w_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_id INTEGER NOT NULL, c_first TEXT, c_middle TEXT, c_last TEXT,
  c_street TEXT, c_city TEXT, c_state TEXT, c_zip TEXT, c_phone TEXT, c_since TEXT, c_credit TEXT, c_credit_lim REAL, c_discount REAL,
  c_balance REAL, c_ytd_payment REAL NOT NULL, c_payment_cnt INTEGER NOT NULL, c_delivery_cnt INTEGER NOT NULL, c_data TEXT,
  c_nation INTEGER REFERENCES nation, PRIMARY KEY (c_w_id, c_d_id, c_id), FOREIGN KEY (c_w_id, c_d_id) REFERENCES district);
CREATE TABLE history (h_c_id INTEGER, h_c_d_id INTEGER, h_c_w_id INTEGER, h_d_id INTEGER, h_w_id INTEGER, h_date TEXT, h_amount REAL, h_data TEXT);
CREATE TABLE item (i_id INTEGER PRIMARY KEY, i_im_id INTEGER, i_name TEXT, i_price REAL, i_data TEXT);
CREATE TABLE stock (s_w_id INTEGER NOT NULL REFERENCES warehouse, s_i_id INTEGER NOT NULL REFERENCES item, s_quantity INTEGER NOT NULL,
  s_dist TEXT, s_ytd REAL NOT NULL, s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL, s_data TEXT,
  s_supplier INTEGER REFERENCES supplier, PRIMARY KEY (s_w_id, s_i_id));
CREATE TABLE orders (o_w_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_id INTEGER NOT NULL, o_c_id INTEGER NOT NULL, o_entry TEXT,
  o_carrier INTEGER, o_lines INTEGER NOT NULL, o_all_local INTEGER NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE new_order (no_w_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_o_id INTEGER NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE order_line (ol_w_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_o_id INTEGER NOT NULL, ol_number INTEGER NOT NULL,
  ol_i_id INTEGER NOT NULL, ol_supply_w_id INTEGER NOT NULL, ol_delivery TEXT, ol_quantity INTEGER NOT NULL, ol_amount REAL NOT NULL,
  ol_dist TEXT, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
`;

export interface Scale {
  readonly warehouses: number;
  readonly items: number;
  readonly customersPerDistrict: number;
  readonly ordersPerDistrict: number;
  /** Characters of free text of a customer and of a stock row: what brings the file to its size. */
  readonly customerText: number;
  readonly stockText: number;
}
export const DISTRICTS_PER_WAREHOUSE = 10;
/** The last orders of a district, in thousandths, are not delivered yet. */
export const NEW_ORDERS_PER_MILLE = 300;

/** S: the peer's small file. M and L: TPC-C's own cardinalities at one and five warehouses; M is about 130 MB, L about 520. */
export const SCALES = {
  quick: { warehouses: 2, items: 200, customersPerDistrict: 20, ordersPerDistrict: 20, customerText: 240, stockText: 220 },
  S: { warehouses: 10, items: 1_000, customersPerDistrict: 100, ordersPerDistrict: 100, customerText: 240, stockText: 220 },
  M: { warehouses: 1, items: 100_000, customersPerDistrict: 3_000, ordersPerDistrict: 3_000, customerText: 500, stockText: 560 },
  L: { warehouses: 5, items: 100_000, customersPerDistrict: 3_000, ordersPerDistrict: 3_000, customerText: 500, stockText: 430 },
} as const satisfies Record<string, Scale>;
