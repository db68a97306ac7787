import { ChevronsUpDown } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { useState } from "react";
import { BranchMark, StateChoices } from "../branches/state-choices.tsx";
import { placeOf, type DataPlace } from "./data-session.ts";

/** Says which state is shown, and lets another be chosen: a branch as it is now, or any of its versions. */
export function PlacePicker({ place, onChoose }: { readonly place: DataPlace | null; readonly onChoose: (place: DataPlace) => void }) {
  const [open, setOpen] = useState(false);
  const choose = (chosen: DataPlace) => {
    setOpen(false);
    onChoose(chosen);
  };
  return (
    <Radix.Root open={open} onOpenChange={setOpen}>
      <Radix.Trigger asChild>
        <button
          type="button"
          aria-label={`State: ${place ? `${place.branch}, ${place.at ?? "as it is now"}` : "not chosen"}`}
          className="flex h-control min-w-0 items-center gap-2 rounded-md border border-line-strong bg-raised px-2 text-sm hover:bg-hover"
        >
          {place ? (
            <>
              <BranchMark name={place.branch} />
              <b className="name-cut max-w-60 font-medium">{place.branch}</b>
              <span className="name-cut text-ink-2">{place.at ?? "as it is now"}</span>
            </>
          ) : (
            <span className="text-ink-2">Choose a state…</span>
          )}
          <ChevronsUpDown size={14} aria-hidden className="shrink-0 text-ink-3" />
        </button>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label="State to look at"
          align="start"
          sideOffset={6}
          collisionPadding={8}
          className="float z-50 flex w-160 max-w-[calc(100vw-32px)] flex-col gap-2.5 p-3"
        >
          <StateChoices
            chosen={place?.branch ?? null}
            current={() => [{ id: "now", label: "As it is now, with unsaved changes", at: null }]}
            onCurrent={(branch) => choose(placeOf(branch))}
            onVersion={(branch, version) => choose(placeOf(branch, `v${version}`))}
          />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
