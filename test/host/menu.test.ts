import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MENU_ITEMS } from "../../src-main/electron/menu-items.ts";

const COMMANDS = join(import.meta.dirname, "../../src-renderer/commands");

test("DESKTOP-3: every command of the application menu is one of the screens, with the same keys", () => {
  const source = readdirSync(COMMANDS)
    .map((file) => readFileSync(join(COMMANDS, file), "utf8"))
    .join("\n");
  const specs = MENU_ITEMS.flatMap((menu) => menu.items).filter((spec) => "command" in spec);
  for (const { command } of specs) {
    const [area, name = ""] = command.split(".");
    const made =
      area === "view" && (source.includes(`screenCommand("${name}"`) || source.includes(`themeCommand("${name.replace("theme-", "")}"`));
    expect(made || source.includes(`id: "${command}"`), command).toBe(true);
  }
  const keys = specs.filter(({ command }) => !command.startsWith("view.")).flatMap((spec) => spec.keys ?? []);
  for (const key of keys) expect(source, key).toContain(`"${key.replace("CmdOrCtrl", "Mod")}"`);
});
