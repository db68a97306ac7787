import { Plus, X } from "lucide-react";
import { useState } from "react";
import { LIMITS } from "#shared/limits.ts";
import type { DataColumnView, DataFilter, FilterOperator } from "#shared/query-views.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { parseTyped, typedText } from "./parse-value.ts";

/** As they are chosen: two of them stand for comparing with NULL. */
type Choice = FilterOperator | "is NULL" | "is not NULL";
const CHOICES: readonly Choice[] = ["contains", "starts with", "=", "<>", "<", "<=", ">", ">=", "is NULL", "is not NULL"];
const SELECT = "name-cut h-control-sm min-w-0 rounded-md border border-line-strong bg-raised px-1.5 text-xs hover:bg-hover";

interface FilterBarProps {
  readonly columns: readonly DataColumnView[];
  readonly filters: readonly DataFilter[];
  readonly onChange: (filters: readonly DataFilter[]) => void;
}

/** Conditions that all hold. A text takes effect with Enter, or when the field is left. */
export function FilterBar({ columns, filters, onChange }: FilterBarProps) {
  const replace = (index: number, filter: DataFilter) => onChange(filters.map((each, at) => (at === index ? filter : each)));
  const first = columns[0];
  return (
    <div
      role="group"
      aria-label="Filters"
      className="flex flex-none flex-wrap items-center gap-1.5 border-b border-line bg-surface px-3 py-1.5"
    >
      {filters.map((filter, index) => (
        <Condition
          // oxlint-disable-next-line react/no-array-index-key -- conditions have no other name
          key={`${index} ${filters.length}`}
          columns={columns}
          filter={filter}
          onChange={(changed) => replace(index, changed)}
          onRemove={() => onChange(filters.filter((_, at) => at !== index))}
        />
      ))}
      <Button
        size="sm"
        icon={Plus}
        disabled={!first || filters.length >= LIMITS.dataFiltersMax}
        onClick={() => first && onChange([...filters, { column: first.name, operator: "contains", value: "" }])}
      >
        Add a condition
      </Button>
      {filters.length > 0 ? (
        <Button size="sm" variant="ghost" onClick={() => onChange([])}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}

function choiceOf({ operator, value }: DataFilter): Choice {
  if (value === null && operator === "is") return "is NULL";
  return value === null && operator === "is not" ? "is not NULL" : operator;
}

interface ConditionProps {
  readonly columns: readonly DataColumnView[];
  readonly filter: DataFilter;
  readonly onChange: (filter: DataFilter) => void;
  readonly onRemove: () => void;
}

function Condition({ columns, filter, onChange, onRemove }: ConditionProps) {
  const [text, setText] = useState(() => typedText(filter.value));
  const [problem, setProblem] = useState<string | null>(null);
  const choice = choiceOf(filter);
  const needsValue = choice !== "is NULL" && choice !== "is not NULL";
  const take = (next: { readonly column?: string; readonly choice?: Choice }) => {
    const column = next.column ?? filter.column;
    const chosen = next.choice ?? choice;
    if (chosen === "is NULL") return onChange({ column, operator: "is", value: null });
    if (chosen === "is not NULL") return onChange({ column, operator: "is not", value: null });
    const isText = chosen === "contains" || chosen === "starts with";
    const type = columns.find(({ name }) => name === column)?.type ?? "";
    // A column that converts nothing may hold numbers as well as texts: what looks like a number is one.
    const parsed = isText ? ({ value: text, problem: null } as const) : parseTyped(text, type, 0);
    setProblem(parsed.problem);
    if (parsed.problem === null) onChange({ column, operator: chosen, value: parsed.value });
  };
  return (
    <span className="flex min-w-0 items-center gap-1 rounded-md border border-line bg-canvas p-0.5">
      <select
        aria-label="Column"
        value={filter.column}
        onChange={(event) => take({ column: event.target.value })}
        className={`${SELECT} max-w-40`}
      >
        {columns.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Comparison"
        value={choice}
        onChange={(event) => take({ choice: CHOICES.find((each) => each === event.target.value) ?? "=" })}
        className={SELECT}
      >
        {[...new Set([...CHOICES, choice])].map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      {needsValue ? (
        <input
          aria-label="Value to compare with"
          autoFocus={text === ""}
          value={text}
          title={problem ?? undefined}
          aria-invalid={problem === null ? undefined : true}
          placeholder="value"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => take({})}
          onKeyDown={(event) => {
            if (event.key === "Enter") take({});
          }}
          className="h-control-sm w-32 rounded-md border border-line-strong bg-raised px-1.5 font-mono text-xs aria-invalid:border-bad"
        />
      ) : null}
      <IconButton icon={X} label="Remove the condition" onClick={onRemove} />
    </span>
  );
}
