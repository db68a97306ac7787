import { FileDown } from "lucide-react";
import { useState } from "react";
import type { RequestInput } from "#shared/contract.ts";
import { useApi } from "../api/queries.ts";
import { SaveDialog } from "../dialogs/save-dialog.tsx";
import { IconButton } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { quoteName, sqlLiteral } from "#shared/sql-literal.ts";
import { placeInput, placeText } from "./data-session.ts";
import type { TableQuery } from "./row-window.ts";

type Format = RequestInput<"query.export">["format"];
const FORMATS: Readonly<Record<Format, { readonly title: string; readonly ending: string }>> = {
  csv: { title: "CSV", ending: "csv" },
  json: { title: "JSON", ending: "json" },
  markdown: { title: "Markdown", ending: "md" },
  sql: { title: "SQL INSERT", ending: "sql" },
};

/** The filters and the order as SQL: what a filter means is what `data.rows` makes of it. */
export function selectSql({ table, order, filters }: Pick<TableQuery, "table" | "order" | "filters">): string {
  const conditions = filters.map(({ column, operator, value }) => {
    const [name, literal] = [quoteName(column), sqlLiteral(value)];
    if (operator === "contains") return `instr(lower(CAST(${name} AS TEXT)), lower(CAST(${literal} AS TEXT))) > 0`;
    if (operator === "starts with") {
      const text = `lower(CAST(${literal} AS TEXT))`;
      return `substr(lower(CAST(${name} AS TEXT)), 1, length(${text})) = ${text}`;
    }
    // The plus takes nothing but the affinity: a parameter has none either.
    return `${name} ${operator.toUpperCase()} +${literal}`;
  });
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return `SELECT * FROM ${quoteName(table)}${where}${order === null ? "" : ` ORDER BY ${quoteName(order.column)}${order.descending ? " DESC" : ""}`}`;
}

/** All rows that the filters let through, whole, to a file. */
export function TableExport({ query }: { readonly query: TableQuery }) {
  const api = useApi();
  const [format, setFormat] = useState<Format | null>(null);
  const { place, table } = query;
  return (
    <>
      <Menu
        label="Export the table"
        align="end"
        entries={(Object.keys(FORMATS) as Format[]).map((each) => ({
          kind: "item",
          id: each,
          label: `Export as ${FORMATS[each].title}…`,
          run: () => setFormat(each),
        }))}
      >
        <IconButton icon={FileDown} label="Export the table" />
      </Menu>
      {format ? (
        <SaveDialog
          title={`Export ${table} as ${FORMATS[format].title}`}
          description={`${query.filters.length > 0 ? "The rows that the filters let through" : "All rows"} of ${placeText(place)}, whole.`}
          suggested={`${table.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_") || "table"}.${FORMATS[format].ending}`}
          what="the rows"
          save={(file, overwrite) =>
            api.request("query.export", {
              ...placeInput(place),
              sql: selectSql(query),
              format,
              file,
              ...(format === "sql" ? { table } : {}),
              ...overwrite,
            })
          }
          onClose={() => setFormat(null)}
        />
      ) : null}
    </>
  );
}
