import { readFile, stat } from "node:fs/promises";
import { extname, join, resolve, sep } from "node:path";
import { RENDERER_FOLDER } from "./program.ts";

/** Nothing from outside, nothing inline but styles (the menus position themselves with them). */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

export interface StaticFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A built file of the screens, by the path of its URL; null for anything that is none, outside the folder above all. */
export async function readStaticFile(urlPath: string, folder: string = RENDERER_FOLDER): Promise<StaticFile | null> {
  const path = locate(urlPath, folder);
  if (path === null || !(await isFile(path))) return null;
  const type = TYPES[extname(path)];
  if (type === undefined) return null;
  const page = extname(path) === ".html";
  return {
    body: new Uint8Array(await readFile(path)),
    headers: {
      "content-type": type,
      // Names of built files carry a hash of their content; the page itself does not.
      "cache-control": page ? "no-store" : "private, max-age=31536000, immutable",
      "content-security-policy": CONTENT_SECURITY_POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    },
  };
}

function locate(urlPath: string, folder: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(urlPath);
  } catch {
    return null;
  }
  if (decoded.includes("\0") || decoded.includes("\\")) return null;
  const path = resolve(join(folder, decoded === "/" ? "index.html" : decoded));
  return path.startsWith(resolve(folder) + sep) ? path : null;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
