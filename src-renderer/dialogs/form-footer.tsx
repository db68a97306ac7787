import { closeDialog } from "../app-state.ts";
import { Button } from "../ui/button.tsx";

/** Cancel and the act. `busy` names what is under way. */
export function FormFooter(props: { readonly act: string; readonly busy: string | null; readonly disabled?: boolean }) {
  return (
    <>
      <Button onClick={closeDialog}>Cancel</Button>
      <Button type="submit" variant="primary" busy={props.busy} disabled={props.disabled ?? false}>
        {props.act}
      </Button>
    </>
  );
}
