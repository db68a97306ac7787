import { FileDown } from "lucide-react";
import { useState } from "react";
import { useApi } from "../api/queries.ts";
import { SaveDialog } from "../dialogs/save-dialog.tsx";
import { IconButton } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { fileNameOf } from "../ui/save-file.ts";
import { quoteName, sqlLiteral } from "#shared/sql-literal.ts";
import { EXPORT_FORMATS, type ExportFormat } from "./export-formats.ts";
import { placeInput, placeText } from "./data-session.ts";
import type { TableQuery } from "./row-window.ts";

/** The filters and the order as SQL: what a filter means is what `data.rows` makes of it. */
function selectSql({ table, order, filters }: Pick<TableQuery, "table" | "order" | "filters">): string {
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
  const [format, setFormat] = useState<ExportFormat | null>(null);
  const { place, table } = query;
  return (
    <>
      <Menu
        label="Export the table"
        align="end"
        entries={(Object.keys(EXPORT_FORMATS) as ExportFormat[]).map((each) => ({
          kind: "item",
          id: each,
          label: `Export as ${EXPORT_FORMATS[each].title}…`,
          run: () => setFormat(each),
        }))}
      >
        <IconButton icon={FileDown} label="Export the table" />
      </Menu>
      {format ? (
        <SaveDialog
          title={`Export ${table} as ${EXPORT_FORMATS[format].title}`}
          description={`${query.filters.length > 0 ? "The rows that the filters let through" : "All rows"} of ${placeText(place)}, whole.`}
          suggested={`${fileNameOf(table, "table")}.${EXPORT_FORMATS[format].ending}`}
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
