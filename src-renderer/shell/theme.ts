import { useEffect } from "react";
import { useAppState } from "../app-state.ts";

/** Puts the chosen theme on the document; "system" follows the system while the window is open. */
export function useTheme(): void {
  const theme = useAppState((state) => state.theme);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset["theme"] = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
    };
    apply();
    dark.addEventListener("change", apply);
    return () => dark.removeEventListener("change", apply);
  }, [theme]);
}
