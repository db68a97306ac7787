import { dialog, nativeTheme, shell, type BrowserWindow, type OpenDialogOptions } from "electron";
import { EngineError } from "#engine/io/errors.ts";
import type { Face } from "#host/host.ts";

/** The system's dialogs, file manager and theme. */
export function createDesktopFace(currentWindow: () => BrowserWindow | null): Face {
  const choose = async (options: OpenDialogOptions): Promise<string | null> => {
    const window = currentWindow();
    const answer = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options));
    return answer.canceled ? null : (answer.filePaths[0] ?? null);
  };
  return {
    kind: "electron",
    chooseFile: (title) => choose({ title, properties: ["openFile", "showHiddenFiles"] }),
    chooseFolder: (title) => choose({ title, properties: ["openDirectory", "createDirectory", "showHiddenFiles"] }),
    async chooseSaveFile(title, suggested) {
      const window = currentWindow();
      const options = { title, defaultPath: suggested };
      const answer = await (window ? dialog.showSaveDialog(window, options) : dialog.showSaveDialog(options));
      return answer.canceled || !answer.filePath ? null : answer.filePath;
    },
    async reveal(path) {
      if (!path.startsWith("/") && !/^[A-Za-z]:/.test(path))
        throw new EngineError("bad-argument", `Show ${path}: expected an absolute path`);
      shell.showItemInFolder(path);
    },
    themeChanged: (theme) => {
      nativeTheme.themeSource = theme;
    },
  };
}
