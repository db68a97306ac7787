import { ChevronsUpDown } from "lucide-react";
import { BranchMark, StateChoices } from "../branches/state-choices.tsx";
import { Popover } from "../ui/popover.tsx";
import { placeOf, type DataPlace } from "./data-session.ts";

/** Says which state is shown, and lets another be chosen: a branch as it is now, or any of its versions. */
export function PlacePicker({ place, onChoose }: { readonly place: DataPlace | null; readonly onChoose: (place: DataPlace) => void }) {
  return (
    <Popover
      label="State to look at"
      className="flex w-160 flex-col gap-2.5 p-3"
      trigger={
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
      }
    >
      {(close) => {
        const choose = (chosen: DataPlace) => {
          close();
          onChoose(chosen);
        };
        return (
          <StateChoices
            chosen={place?.branch ?? null}
            current={() => [{ id: "now", label: "As it is now, with unsaved changes", at: null }]}
            onCurrent={(branch) => choose(placeOf(branch))}
            onVersion={(branch, version) => choose(placeOf(branch, `v${version}`))}
          />
        );
      }}
    </Popover>
  );
}
