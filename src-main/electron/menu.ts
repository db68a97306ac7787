/**
 * The application menu. Its items send the ids of the screens' own commands; a test compares the two lists. Keys are
 * shown here and handled by the screens, so that a text field keeps its own Ctrl-Z.
 */
import { Menu, type MenuItemConstructorOptions } from "electron";
import { MENU_ITEMS, type MenuItemSpec } from "./menu-items.ts";

/** A Mac acts on every key that its menu shows: Delete in a text field would delete a branch. */
const CAN_SHOW_ONLY = process.platform !== "darwin";

export function installMenu(sendCommand: (command: string) => void): void {
  const toItem = (spec: MenuItemSpec): MenuItemConstructorOptions => {
    if ("separator" in spec) return { type: "separator" };
    if ("role" in spec) return { role: spec.role };
    return {
      id: spec.command,
      label: spec.label,
      ...(spec.keys === undefined || !CAN_SHOW_ONLY ? {} : { accelerator: spec.keys, registerAccelerator: false }),
      click: () => sendCommand(spec.command),
    };
  };
  const template: MenuItemConstructorOptions[] = MENU_ITEMS.map(({ label, items }) => ({ label, submenu: items.map(toItem) }));
  Menu.setApplicationMenu(Menu.buildFromTemplate(process.platform === "darwin" ? [{ role: "appMenu" }, ...template] : template));
}
