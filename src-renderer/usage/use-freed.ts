import { useEffect, useMemo, useState } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import type { FreedView } from "#shared/usage-views.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { useApi } from "../api/queries.ts";
import { usageKey, type BranchName } from "./usage-state.ts";

/** While a selection is being made its steps share a question. */
const SETTLE_MS = 120;

export interface Freed {
  /** For exactly these branches; null while it is not known. */
  readonly view: FreedView | null;
  readonly error: ErrorView | null;
  readonly retry: () => void;
}

interface Question {
  /** Names all branches. */
  readonly key: string;
  readonly branches: readonly BranchName[];
  readonly measuredAt: number;
}

interface Answer extends Question {
  readonly view: FreedView | null;
  readonly error: ErrorView | null;
}

/** One question at a time: of those that come while it is answered only the last is asked. */
function createAsker(api: Api, onAnswer: (answer: Answer) => void): (question: Question) => Promise<void> {
  let next: Question | null = null;
  let busy = false;
  return async (question) => {
    next = question;
    if (busy) return;
    busy = true;
    while (next) {
      const asked: Question = next;
      next = null;
      try {
        const view = await api.request("usage.free", { branches: asked.branches.map(({ database, branch }) => ({ database, branch })) });
        onAnswer({ ...asked, view, error: null });
      } catch (thrown) {
        onAnswer({ ...asked, view: null, error: toErrorView(thrown) });
      }
    }
    busy = false;
  };
}

/** What the going of these branches frees together. A newer measurement asks again, and the old answer stays meanwhile. */
export function useFreed(branches: readonly BranchName[], measuredAt: number): Freed {
  const api = useApi();
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [ask] = useState(() => createAsker(api, setAnswer));
  const key = useMemo(() => branches.map(usageKey).join(" "), [branches]);
  const known = answer?.key === key ? answer : null;
  const isDue = branches.length > 0 && known?.measuredAt !== measuredAt;
  useEffect(() => {
    if (!isDue) return;
    const timer = setTimeout(() => void ask({ key, branches, measuredAt }), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [ask, isDue, key, branches, measuredAt]);
  return { view: known?.view ?? null, error: known?.error ?? null, retry: () => void ask({ key, branches, measuredAt }) };
}
