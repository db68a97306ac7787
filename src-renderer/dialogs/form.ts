import { useState } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import { toErrorView } from "../api/api-error.ts";
import { closeDialog } from "../app-state.ts";

/** What a dialog's form needs while it acts: one submission at a time, failures shown in place, closed when it worked. */
export function useSubmit(act: () => Promise<unknown>): {
  readonly busy: boolean;
  readonly error: ErrorView | null;
  readonly submit: () => void;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ErrorView | null>(null);
  const submit = () => {
    if (busy) return;
    setBusy(true);
    setError(null);
    act()
      .then(closeDialog)
      .catch((failure: unknown) => setError(toErrorView(failure)))
      .finally(() => setBusy(false));
  };
  return { busy, error, submit };
}
