/** Moving the keyboard between the panes of the window. A pane is any element with `data-pane`. */

function isShown(element: HTMLElement): boolean {
  return element.offsetParent !== null;
}

/** Puts the keyboard into the next (or previous) pane: on what it marks with `data-pane-focus`, else on its first control. */
export function focusNextPane(step: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>("[data-pane]")].filter(isShown);
  const current = panes.findIndex((pane) => pane.contains(document.activeElement));
  for (let offset = 1; offset <= panes.length; offset++) {
    const pane = panes[(current + step * offset + panes.length * 2) % panes.length];
    const target = pane?.querySelector<HTMLElement>("[data-pane-focus], [tabindex='0'], button:not(:disabled), input, select, a[href]");
    if (target) {
      target.focus();
      return;
    }
  }
}

const findFilter = () => document.querySelector<HTMLInputElement>("[data-filter]");

/** Whether the screen that is shown can be filtered. */
export function hasFilter(): boolean {
  return findFilter() !== null;
}

/** The filter of the screen that is about to be shown: it may not be there before the next frame. */
export function focusFilter(): void {
  requestAnimationFrame(() => findFilter()?.select());
}

export function focusBranchGrid(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-branch-keys]")?.focus());
}
