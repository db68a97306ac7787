import { FileInput, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { useApi } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { closeImport, inspectFile, inspectPath } from "./import-session.ts";

const DATABASE_ENDINGS = ".db,.db3,.sqlite,.sqlite3,.s3db";

/** Web host: a path on the machine that Coppice runs on, or a file of the machine that the browser runs on. */
export function SourceForm({ home }: { readonly home: string }) {
  const api = useApi();
  const [path, setPath] = useState("");
  const picker = useRef<HTMLInputElement>(null);
  const trimmed = path.trim();
  return (
    <div className="flex max-w-140 flex-col gap-5 p-6">
      <header>
        <h2 className="text-md font-semibold">Open a SQLite file</h2>
        <p className="text-xs text-ink-2">Coppice reads it and reports first. The original is never written to.</p>
      </header>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (trimmed !== "") void inspectPath(api, trimmed);
        }}
      >
        <Field
          label="Path on the machine that runs Coppice"
          autoFocus
          value={path}
          placeholder={`${home}/shop.db`}
          onChange={(event) => setPath(event.target.value)}
        />
        <div className="flex gap-2">
          <Button type="submit" variant="primary" icon={FileInput} disabled={trimmed === ""}>
            Inspect
          </Button>
          <Button onClick={closeImport}>Cancel</Button>
        </div>
      </form>
      <div className="flex flex-col gap-2 border-t border-line pt-4">
        <p className="text-xs text-ink-2">The file is on another machine than Coppice? Send a copy of it.</p>
        <Button icon={Upload} className="self-start" onClick={() => picker.current?.click()}>
          Upload a file…
        </Button>
        <input
          ref={picker}
          type="file"
          accept={DATABASE_ENDINGS}
          aria-label="File to upload"
          className="hidden"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) void inspectFile(api, file);
          }}
        />
      </div>
    </div>
  );
}
