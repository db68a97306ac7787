import { FileInput } from "lucide-react";
import { useState } from "react";
import type { RequestOutput } from "#shared/contract.ts";
import type { ImportReport, StoreView } from "#shared/views.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { fileNameOf, folderOf, shortenHome } from "../ui/paths.ts";
import { judgeName, proposeName } from "./import-name.ts";
import { closeImport, importAs, type ImportTarget } from "./import-session.ts";

const NEW = "new";
const CURRENT = "current";

interface FooterProps {
  readonly hello: RequestOutput<"app.hello">;
  readonly store: StoreView | null;
  readonly report: ImportReport;
}

/** Name, store and the act. Names are judged against the open store; another store is asked when it is opened. */
export function ImportFooter({ hello, store, report }: FooterProps) {
  const api = useApi();
  const others = hello.recent.filter((recent) => recent.exists && recent.path !== store?.path);
  const [choice, setChoice] = useState(store ? CURRENT : (others[0]?.path ?? NEW));
  const [typedName, setTypedName] = useState<string | null>(null);
  const [typedFolder, setTypedFolder] = useState<string | null>(null);
  const databases = useRequest("database.list", {}, { enabled: store !== null });

  const taken = new Set(choice === CURRENT ? (databases.data ?? []).map((database) => database.name) : []);
  const name = typedName ?? proposeName(report.source, taken);
  const judgement = judgeName(name, taken);
  const folder = typedFolder ?? `${hello.home}/${name}.coppice`;
  const target: ImportTarget =
    choice === CURRENT ? { kind: "current" } : choice === NEW ? { kind: "new", spec: folder.trim() } : { kind: "existing", spec: choice };
  // The name first: a long path is cut off at its end.
  const labelOf = (path: string) => `${fileNameOf(path)} in ${shortenHome(folderOf(path), hello.home)}`;
  const ready = judgement.state === "free" && (target.kind !== "new" || target.spec !== "");

  return (
    <form
      className="flex flex-none flex-wrap items-start gap-3 border-t border-line bg-surface px-6 py-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void importAs(api, name, target);
      }}
    >
      <div className="w-55">
        <Field
          label="Database name"
          autoFocus
          value={name}
          problem={judgement.state === "free" ? null : judgement.problem}
          trailing={choice === CURRENT && judgement.state !== "bad" ? judgement.state : null}
          onChange={(event) => setTypedName(event.target.value)}
        />
      </div>
      <SelectField label="Into store" className="w-65" value={choice} onChange={(event) => setChoice(event.target.value)}>
        {store ? <option value={CURRENT}>{labelOf(store.path)}</option> : null}
        {others.map((recent) => (
          <option key={recent.path} value={recent.path}>
            {labelOf(recent.path)}
          </option>
        ))}
        <option value={NEW}>New store…</option>
      </SelectField>
      {choice === NEW ? (
        <div className="w-65">
          <Field label="Folder of the new store" value={folder} onChange={(event) => setTypedFolder(event.target.value)} />
        </div>
      ) : null}
      <div className="mt-5.5 ml-auto flex gap-2">
        <Button onClick={closeImport}>Cancel</Button>
        <Button type="submit" variant="primary" icon={FileInput} disabled={!ready}>
          Import as {name}
        </Button>
      </div>
    </form>
  );
}
