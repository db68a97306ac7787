import { EngineError } from "#engine/io/errors.ts";
import type { Face } from "#host/host.ts";

/** A browser shows no dialogs of the host's computer: the screens ask for paths themselves. */
export const webFace: Face = {
  kind: "web",
  chooseFile: () => Promise.reject(noDialog()),
  chooseFolder: () => Promise.reject(noDialog()),
  chooseSaveFile: () => Promise.reject(noDialog()),
  reveal: () =>
    Promise.reject(new EngineError("unsupported", "A browser cannot show a file in the file manager", { hint: "Copy the path instead." })),
  themeChanged: () => undefined,
};

function noDialog(): EngineError {
  return new EngineError("unsupported", "A browser cannot choose a path on this computer", { hint: "Type the path instead." });
}
