import { readLayout, valueAt, type SqlValue } from "../format/record.ts";
import { pageOf, type CellPlace } from "./database-pages.ts";
import type { PairedColumn, TableSide } from "./table-pair.ts";

/** Reads rows of one side as values. */
export class RowReader {
  readonly #side: TableSide;
  readonly #columns: readonly PairedColumn[];
  readonly #which: "left" | "right";
  /** Of each column of the table its position in a record; -1 for virtual ones. */
  readonly #positions: readonly number[];

  constructor(side: TableSide, columns: readonly PairedColumn[], which: "left" | "right") {
    this.#side = side;
    this.#columns = columns;
    this.#which = which;
    this.#positions = side.shape.columns.map((_, index) => side.shape.stored.indexOf(index));
  }

  /**
   * Values in order of the paired columns. Virtual columns are null: they are computed, not stored. A column that only
   * the other side has: `fallback` on the left (what the row would hold once the column was added), else null.
   */
  read(place: CellPlace): SqlValue[] {
    const { pages, shape } = this.#side;
    const cell = pages.cell(place);
    const payload = pages.payload(cell, place);
    const fail = pages.failAt(pageOf(place));
    const layout = readLayout(payload, fail);
    return this.#columns.map((column) => {
      const index = column[this.#which];
      if (index < 0) return this.#which === "left" ? column.fallback : null;
      if (index === shape.rowidColumn) return BigInt(cell.rowid ?? 0);
      const position = this.#positions[index] ?? -1;
      const definition = shape.columns[index];
      if (position < 0 || !definition) return null;
      const value = position < layout.types.length ? valueAt(payload, layout, position, pages.header.encoding, fail) : definition.fallback;
      // SQLite stores a real without fraction as an integer where it takes less room.
      return definition.isReal && typeof value === "bigint" ? Number(value) : value;
    });
  }
}
