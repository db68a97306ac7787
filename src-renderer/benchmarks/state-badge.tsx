import { Ban, Check, CircleX, LoaderCircle, type LucideIcon } from "lucide-react";
import type { BenchState } from "#shared/bench-views.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { stateWord } from "./bench-words.ts";

const LOOKS: Readonly<Record<BenchState, { readonly tone: Tone; readonly icon: LucideIcon }>> = {
  running: { tone: "info", icon: LoaderCircle },
  stopping: { tone: "busy", icon: LoaderCircle },
  done: { tone: "ok", icon: Check },
  partial: { tone: "warn", icon: Ban },
  failed: { tone: "bad", icon: CircleX },
};

/** How a run stands: icon, word and colour. */
export function StateBadge({ state }: { readonly state: BenchState }) {
  const { tone, icon } = LOOKS[state];
  return (
    <Badge tone={tone} icon={icon}>
      {stateWord({ state })}
    </Badge>
  );
}
