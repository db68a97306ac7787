/** Paths of the host's machine as text: separators of both kinds, nothing is looked up. */

export function fileNameOf(path: string): string {
  return path.replace(/^.*[\\/]/, "");
}

export function folderOf(path: string): string {
  return path.replace(/[\\/][^\\/]*$/, "");
}

/** "/home/you/work" → "~/work" for people; never sent back as a path. */
export function shortenHome(path: string, home: string): string {
  if (path === home) return "~";
  return home !== "" && (path.startsWith(`${home}/`) || path.startsWith(`${home}\\`)) ? `~${path.slice(home.length)}` : path;
}
