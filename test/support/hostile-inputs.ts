/**
 * Files that broke comparable tools. Each either imports, and then equals its source in every byte of content, or is
 * refused with the code named here and leaves nothing behind. `make` builds one in an empty folder.
 */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  at,
  byDamage,
  bySql,
  killed,
  live,
  noise,
  ORDINARY,
  ORDINARY_SCRIPT,
  padded,
  patch,
  rewriteSchema,
  twoFileJournal,
  withDatabase,
  writeManyTables,
  written,
} from "./hostile-builders.ts";
import type { HostileInput } from "./hostile-builders.ts";
import { runAndKill, runAndStay } from "./foreign-clients.ts";

const PAGE_AND_ENCODING: readonly HostileInput[] = [
  bySql(
    "512-byte pages, long overflow chains",
    `PRAGMA page_size = 512; ${ORDINARY} INSERT INTO t VALUES (9001, hex(zeroblob(20000)), 1, zeroblob(30000));`,
    ["SQLite header", /page size 512,/],
  ),
  bySql("65,536-byte pages", `PRAGMA page_size = 65536; ${ORDINARY}`, ["SQLite header", /page size 65,536,/]),
  bySql("UTF-16le", `PRAGMA encoding = 'UTF-16le'; ${ORDINARY} INSERT INTO t(name) VALUES ('Übersicht 💾'), (CAST(x'00d8' AS TEXT));`, [
    "Text encoding",
    /UTF-16le/,
  ]),
  bySql("UTF-16be", `PRAGMA encoding = 'UTF-16be'; ${ORDINARY} INSERT INTO t(name) VALUES ('Übersicht 💾');`, [
    "Text encoding",
    /UTF-16be/,
  ]),
  bySql("auto_vacuum full", `PRAGMA auto_vacuum = 1; ${ORDINARY} DELETE FROM t WHERE id % 3 = 0;`, ["Auto vacuum", /full/]),
  bySql("auto_vacuum incremental with free pages", `PRAGMA auto_vacuum = 2; ${ORDINARY} DELETE FROM t WHERE id > 40;`, [
    "Auto vacuum",
    /incremental/,
  ]),
  bySql("many free pages", `${ORDINARY} CREATE TABLE big(b); INSERT INTO big VALUES (zeroblob(900000)); DROP TABLE big;`),
  bySql("application_id and user_version", `PRAGMA application_id = -559038737; PRAGMA user_version = -7; ${ORDINARY}`, [
    "Application",
    /0xdeadbeef, user_version -7/,
  ]),
  {
    name: "reserved bytes at the end of each page",
    expect: "imports",
    reports: ["SQLite header", /32 bytes of each page reserved/],
    make: (folder) => {
      const path = withDatabase(join(folder, "data.db"), (database) => database.pragma("user_version = 1"));
      patch(path, 20, [32]);
      patch(path, 105, [(4096 - 32) >> 8, (4096 - 32) & 255]);
      return { path: withDatabase(path, (database) => database.exec(ORDINARY)) };
    },
  },
  byDamage(
    "page count left stale by an old SQLite",
    "imports",
    (path) => {
      patch(path, 28, [0, 0, 0, 2]);
      patch(path, 92, [0, 0, 0, 0]);
    },
    ["Page count", /out of date/],
  ),
  byDamage("bytes behind the last page", "imports", (path) => appendFileSync(path, Buffer.alloc(1000, 7)), ["Size", /1,000 bytes behind/]),
];

const SCHEMA: readonly HostileInput[] = [
  bySql(
    "STRICT tables",
    "CREATE TABLE s(id INTEGER PRIMARY KEY, a ANY, b BLOB, t TEXT) STRICT; INSERT INTO s VALUES (1, 'x', x'00', 'y'), (2, 5, NULL, NULL);",
    ["Table features", /1 STRICT/],
  ),
  bySql(
    "generated columns and a partial index on one",
    `CREATE TABLE g(a INTEGER, b INTEGER AS (a * 2) VIRTUAL, c TEXT AS ('#' || a) STORED, d);
     CREATE INDEX g_b ON g(b) WHERE b > 10; CREATE INDEX g_e ON g(a + d);
     INSERT INTO g(a, d) VALUES (1, 2), (9, 3), (40, NULL);`,
    ["Table features", /2 generated columns/],
  ),
  bySql(
    "FTS5",
    "CREATE VIRTUAL TABLE f USING fts5(title, body); INSERT INTO f VALUES ('one', 'the quick brown fox'), ('two', 'jumps'); DELETE FROM f WHERE rowid = 1;",
    ["Full-text search", /f, \d shadow tables/],
  ),
  bySql(
    "FTS5 with external content, and contentless",
    `CREATE TABLE docs(id INTEGER PRIMARY KEY, body TEXT);
     CREATE VIRTUAL TABLE docs_fts USING fts5(body, content = 'docs', content_rowid = 'id'); CREATE VIRTUAL TABLE bare USING fts5(x, content = '');
     INSERT INTO docs VALUES (1, 'hello world'), (2, 'other'); INSERT INTO docs_fts(docs_fts) VALUES ('rebuild'); INSERT INTO bare(rowid, x) VALUES (1, 'word');`,
  ),
  bySql("FTS4", "CREATE VIRTUAL TABLE f4 USING fts4(a, b); INSERT INTO f4 VALUES ('one', 'two');"),
  bySql(
    "RTREE and geopoly",
    "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, +label); INSERT INTO r VALUES (1, -5, 5, 'a'), (2, 1e9, 2e9, NULL); CREATE VIRTUAL TABLE g USING geopoly(n);",
    ["R-tree", /r, 3 shadow tables/],
  ),
  bySql(
    "WITHOUT ROWID with a composite key",
    "CREATE TABLE w(a TEXT, b INTEGER, c, PRIMARY KEY (b DESC, a COLLATE NOCASE)) WITHOUT ROWID; INSERT INTO w VALUES ('x', 1, 1), ('Y', 2, NULL);",
    ["Table features", /1 WITHOUT ROWID/],
  ),
  bySql(
    "columns that hide every name of the rowid",
    "CREATE TABLE h(rowid TEXT, _rowid_ TEXT, oid TEXT); INSERT INTO h VALUES ('a', 'b', 'c');",
  ),
  bySql(
    "AUTOINCREMENT and statistics",
    `CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x); INSERT INTO a(x) VALUES (1), (2); DELETE FROM a; ${ORDINARY} ANALYZE;`,
  ),
  bySql(
    "views on missing tables",
    "CREATE TABLE here(a); CREATE VIEW gone AS SELECT * FROM nowhere JOIN here; CREATE VIEW fine AS SELECT * FROM here;",
    ["Missing table", /nowhere/],
  ),
  bySql(
    "triggers with RAISE",
    "CREATE TABLE t(a); CREATE TRIGGER no BEFORE DELETE ON t BEGIN SELECT RAISE(ABORT, 'no'); END; CREATE TRIGGER skip BEFORE UPDATE ON t BEGIN SELECT RAISE(IGNORE); END; INSERT INTO t VALUES (1);",
  ),
  bySql(
    "violated foreign keys",
    "PRAGMA foreign_keys = OFF; CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id)); INSERT INTO c VALUES (7);",
    ["Foreign keys", /1 violation in 1 constraint/],
  ),
  bySql(
    "odd table and column names",
    `CREATE TABLE "таблица ""x"" '💾'"("a b" TEXT, "select" INT, "[]" BLOB); INSERT INTO "таблица ""x"" '💾'" VALUES ('ä', 1, x'00'); CREATE TABLE ""(""); CREATE INDEX "i ""q""" ON "таблица ""x"" '💾'"("a b");`,
    ["Names", /2 tables/],
  ),
  {
    name: "2,000 columns",
    expect: "imports",
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.exec(
          `CREATE TABLE wide(${Array.from({ length: 2000 }, (_, i) => `c${i}`).join(", ")}); INSERT INTO wide(c0, c999, c1999) VALUES (1, 'x', x'ff');`,
        );
      }),
    }),
  },
  {
    name: "18,000 tables",
    expect: "imports",
    slow: true,
    make: (folder) => ({ path: writeManyTables(join(folder, "data.db"), 18_000) }),
  },
];

const VALUES: readonly HostileInput[] = [
  bySql(
    "64-bit integers",
    "CREATE TABLE b(id INTEGER PRIMARY KEY, n); INSERT INTO b VALUES (9223372036854775807, -9223372036854775808), (9007199254740993, 9007199254740992), (-9223372036854775808, 0);",
    ["Large integers", /9,223,372,036,854,775,80[78]/],
  ),
  {
    name: "infinities, NaN, negative zero, denormals",
    expect: "imports",
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.exec("CREATE TABLE f(v REAL)");
        for (const value of [Infinity, -Infinity, NaN, -0, 5e-324, 1.7976931348623157e308, 0.1])
          database.prepare("INSERT INTO f VALUES (?)").run(value);
      }),
    }),
  },
  bySql(
    "invalid UTF-8 and NUL inside text",
    "CREATE TABLE x(v TEXT); INSERT INTO x VALUES (CAST(x'c328ff80' AS TEXT)), ('a' || char(0) || 'b'), (char(0)), (CAST(x'eda080' AS TEXT)), ('');",
  ),
  bySql(
    "10 KB blobs in every row",
    "CREATE TABLE k(b BLOB); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO k SELECT zeroblob(10240) FROM n;",
    ["Blobs", /200 values, largest 10.0 KiB/],
  ),
  {
    name: "a 100 MB blob",
    expect: "imports",
    slow: true,
    reports: ["Blobs", /1 value, largest 95\.4 MiB/],
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.exec("CREATE TABLE huge(b BLOB)");
        database.prepare("INSERT INTO huge VALUES (?)").run(Buffer.alloc(100_000_000, "a hundred million bytes of one blob "));
      }),
    }),
  },
];

const PROGRAMS: readonly HostileInput[] = [
  {
    name: "functions that only its program has",
    expect: "imports",
    reports: ["Function house_mark", /Not available here, first needed by marked/],
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.function("house_hash", { deterministic: true }, (value) => String(value).length);
        database.function("house_mark", { deterministic: true }, (value) => `#${String(value)}`);
        database.exec(`CREATE TABLE f(a TEXT, b AS (house_mark(a)), CHECK (house_hash(a) < 100)); CREATE INDEX f_h ON f(house_hash(a));
          CREATE VIEW marked AS SELECT house_mark(a) FROM f; INSERT INTO f(a) VALUES ('one'), ('three');`);
      }),
    }),
  },
  {
    name: "a collation that only its program has",
    expect: "imports",
    reports: ["Collation de_phonebook", /Not available here, used by/],
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.exec(
          "CREATE TABLE c(name TEXT COLLATE NOCASE, city TEXT); CREATE INDEX c_name ON c(name); INSERT INTO c VALUES ('Öztürk', 'Ulm'), ('oben', 'Ufa')",
        );
        rewriteSchema(database, "UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'de_phonebook')");
      }),
    }),
  },
  {
    name: "a virtual table whose module is missing",
    expect: "imports",
    reports: ["Module spellfix1", /Not available here/],
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.exec(ORDINARY);
        rewriteSchema(
          database,
          "INSERT INTO sqlite_schema VALUES ('table', 'words', 'words', 0, 'CREATE VIRTUAL TABLE words USING spellfix1')",
        );
      }),
    }),
  },
  {
    name: "rows that break a later NOT NULL",
    expect: "imports",
    reports: ["Integrity", /NULL value in/],
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.exec("CREATE TABLE n(a TEXT); INSERT INTO n VALUES (NULL), ('x')");
        rewriteSchema(database, "UPDATE sqlite_schema SET sql = 'CREATE TABLE n(a TEXT NOT NULL)'");
      }),
    }),
  },
  {
    name: "a schema in words that this SQLite does not know",
    expect: "imports",
    reports: ["Schema", /cannot read it/],
    make: (folder) => ({
      path: withDatabase(join(folder, "data.db"), (database) => {
        database.exec(ORDINARY);
        rewriteSchema(database, "UPDATE sqlite_schema SET sql = 'CREATE FUTURE TABLE t(id)' WHERE name = 't'");
      }),
    }),
  },
];

const KILL_WAL = `const db = new Database(path); db.pragma("journal_mode = WAL"); db.pragma("wal_autocheckpoint = 0"); db.exec(${ORDINARY_SCRIPT});`;
const SIDE_FILES: readonly HostileInput[] = [
  killed("WAL left by a killed writer", `${KILL_WAL} db.exec("UPDATE t SET name = name || '!'; DELETE FROM t WHERE id < 20")`, [
    "Left-over WAL",
    /frames, \d+ committed transactions$/,
  ]),
  killed(
    "WAL left in the middle of a transaction",
    `${KILL_WAL} db.pragma("cache_size = 30"); db.exec("BEGIN; INSERT INTO t(raw) VALUES (zeroblob(400000))")`,
    ["Left-over WAL", /last \d+ frames incomplete/],
  ),
  killed(
    "WAL that restarted over longer leftovers",
    `${KILL_WAL} db.exec("UPDATE t SET raw = zeroblob(2000)"); db.pragma("wal_checkpoint(RESTART)"); db.exec("UPDATE t SET name = 'new' WHERE id = 5")`,
    ["Left-over WAL", /1 committed transaction$/],
  ),
  killed("WAL cut off inside a frame", KILL_WAL, ["Left-over WAL", /frame/], (path) =>
    truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 1000),
  ),
  killed("WAL without its -shm", `${KILL_WAL} db.exec("DELETE FROM t WHERE id > 300")`, ["Journal mode", /WAL/], (path) =>
    rmSync(`${path}-shm`),
  ),
  killed(
    "WAL with another program's bytes in its -shm",
    `${KILL_WAL} db.exec("DELETE FROM t WHERE id > 300")`,
    ["Journal mode", /WAL/],
    (path) => writeFileSync(`${path}-shm`, Buffer.alloc(32_768, 0x5a)),
  ),
  killed(
    "hot rollback journal of a killed writer",
    `const db = new Database(path); db.exec(${ORDINARY_SCRIPT}); db.pragma("cache_size = 2"); db.exec("BEGIN; UPDATE t SET raw = zeroblob(900), name = 'torn'")`,
    ["Hot journal", /never finished/],
  ),
  killed(
    "hot journal of a file that was just being made",
    `const db = new Database(path); db.pragma("cache_size = 2"); db.exec("BEGIN;" + ${ORDINARY_SCRIPT})`,
    ["SQLite header", /empty database/],
  ),
  {
    name: "PERSIST journal with trailing bytes",
    expect: "imports",
    reports: ["Rollback journal", /finished transaction/],
    make: (folder) => {
      const path = withDatabase(join(folder, "data.db"), (database) => {
        database.pragma("journal_mode = PERSIST");
        database.exec(ORDINARY);
        database.exec("UPDATE t SET name = 'x'");
      });
      appendFileSync(`${path}-journal`, Buffer.alloc(777, 0xab));
      return { path };
    },
  },
  byDamage("empty side files", "imports", (path) => ["-wal", "-journal"].forEach((end) => writeFileSync(path + end, ""))),
  byDamage("a -wal that is none", "imports", (path) =>
    writeFileSync(`${path}-wal`, "not a WAL at all, but longer than the 32 bytes of a header"),
  ),
  twoFileJournal("journal of a transaction over two files that was never finished", true, ["Hot journal", /never finished/]),
  twoFileJournal("journal of a transaction over two files that was committed", false, ["Rollback journal", /finished transaction/]),
  {
    name: "read-only folder with a WAL database",
    expect: "imports",
    make: (folder) => {
      const inside = join(folder, "read only");
      mkdirSync(inside);
      const path = join(inside, "data.db");
      runAndKill(path, KILL_WAL);
      rmSync(`${path}-shm`);
      for (const file of [path, `${path}-wal`]) chmodSync(file, 0o444);
      chmodSync(inside, 0o555);
      return { path, release: () => chmodSync(inside, 0o755) };
    },
  },
  {
    name: "symbolic link to a database with a left-over WAL",
    expect: "imports",
    reports: ["Symbolic link", /real/],
    make: (folder) => {
      const real = join(folder, "real");
      mkdirSync(real);
      runAndKill(join(real, "data.db"), KILL_WAL);
      symlinkSync(join(real, "data.db"), join(folder, "link.db"));
      return { path: join(folder, "link.db") };
    },
  },
  byDamage("a second hard link", "imports", (path) => linkSync(path, `${path}.second`), ["Hard links", /2 names/]),
  {
    name: "Cyrillic, emoji, spaces and quotes in the path",
    expect: "imports",
    make: (folder) => {
      const odd = join(folder, "Документы и 'quotes' \"two\" 💾 %20?#&");
      mkdirSync(odd);
      const path = join(odd, "Übersicht “Q4” 2026.sqlite3");
      runAndKill(path, KILL_WAL);
      return { path };
    },
  },
];

const LIVE: readonly HostileInput[] = [
  live("idle client in WAL mode", "imports", `${KILL_WAL} db.prepare("SELECT count(*) FROM t").get()`, ["Other programs", /pid \d+/]),
  live(
    "writer in the middle of a transaction, WAL",
    "imports",
    `${KILL_WAL} db.pragma("cache_size = 30"); db.exec("BEGIN IMMEDIATE; INSERT INTO t(raw) VALUES (zeroblob(400000))")`,
    ["WAL in use", /incomplete/],
  ),
  live(
    "writer in the middle of a transaction, rollback journal",
    "imports",
    `const db = new Database(path); db.exec(${ORDINARY_SCRIPT}); db.exec("BEGIN IMMEDIATE; UPDATE t SET name = 'uncommitted'")`,
    ["Rollback journal", /in progress/],
  ),
  live(
    "reader in the middle of a transaction",
    "imports",
    `const db = new Database(path); db.exec(${ORDINARY_SCRIPT}); db.exec("BEGIN"); db.prepare("SELECT * FROM t").get()`,
  ),
  live(
    "writer that holds the file exclusively",
    "source-busy",
    `const db = new Database(path); db.exec(${ORDINARY_SCRIPT}); db.exec("BEGIN EXCLUSIVE")`,
  ),
  live(
    "writer whose changes spilled into the file",
    "source-busy",
    `const db = new Database(path); db.exec(${ORDINARY_SCRIPT}); db.pragma("cache_size = 2"); db.exec("BEGIN; UPDATE t SET raw = zeroblob(900)")`,
  ),
  live(
    "client in exclusive WAL mode",
    "source-busy",
    `const db = new Database(path); db.pragma("locking_mode = EXCLUSIVE"); db.pragma("journal_mode = WAL"); db.exec(${ORDINARY_SCRIPT})`,
  ),
  {
    name: "file replaced while a client has the old one open",
    expect: "imports",
    make: async (folder) => {
      const path = withDatabase(join(folder, "data.db"), (database) => database.exec("CREATE TABLE old(a)"));
      const client = await runAndStay(path, `const db = new Database(path); db.exec("BEGIN"); db.prepare("SELECT * FROM old").get()`);
      renameSync(
        withDatabase(join(folder, "next.db"), (database) => database.exec(ORDINARY)),
        path,
      );
      return { path, release: client.stop };
    },
  },
];

const NOT_DATABASES: readonly HostileInput[] = [
  {
    name: "zero-byte file",
    expect: "imports",
    reports: ["SQLite header", /0 bytes/],
    make: (folder) => ({ path: written(join(folder, "data.db"), Buffer.alloc(0)) }),
  },
  bySql("database without any table", "PRAGMA user_version = 3;"),
  {
    name: "text file",
    expect: "not-sqlite",
    make: (folder) => ({ path: written(join(folder, "data.db"), Buffer.from("id,name\n1,one\n".repeat(5000).slice(0, 65_536))) }),
  },
  { name: "a few bytes", expect: "not-sqlite", make: (folder) => ({ path: written(join(folder, "data.db"), Buffer.from("hi")) }) },
  {
    name: "compressed database",
    expect: "not-sqlite",
    make: (folder) => ({ path: written(join(folder, "data.db.gz"), padded(gzipSync(noise(16_000)))) }),
  },
  { name: "encrypted-looking file", expect: "encrypted", make: (folder) => ({ path: written(join(folder, "data.db"), noise(5 * 4096)) }) },
  {
    name: "small encrypted-looking file",
    expect: "encrypted",
    make: (folder) => ({ path: written(join(folder, "data.db"), noise(1024)) }),
  },
  byDamage("cut off in the middle", "truncated", (path) => truncateSync(path, Math.floor(statSync(path).size / 2))),
  byDamage("cut off inside the header", "truncated", (path) => truncateSync(path, 60)),
  byDamage("cut off inside page 1", "truncated", (path) => truncateSync(path, 1000)),
  byDamage("page size that is no power of two", "not-sqlite", (path) => patch(path, 16, [0x0f, 0xff])),
  byDamage("file format of a newer SQLite", "unsupported", (path) => patch(path, 18, [3, 3])),
  byDamage("schema format of a newer SQLite", "unsupported", (path) => patch(path, 47, [9])),
  { name: "folder", expect: "not-sqlite", make: (folder) => at(folder, mkdirSync) },
  { name: "named pipe", expect: "not-sqlite", make: (folder) => at(folder, (path) => spawnSync("mkfifo", [path])) },
  { name: "no file", expect: "file-not-found", make: (folder) => at(folder, () => {}) },
  { name: "dangling symbolic link", expect: "file-not-found", make: (folder) => at(folder, (path) => symlinkSync(`${path}.gone`, path)) },
];

export const HOSTILE_INPUTS: readonly HostileInput[] = [
  ...PAGE_AND_ENCODING,
  ...SCHEMA,
  ...VALUES,
  ...PROGRAMS,
  ...SIDE_FILES,
  ...LIVE,
  ...NOT_DATABASES,
];
