import { protocol } from "electron";
import { readStaticFile } from "#host/static-files.ts";

export const PAGE_URL = "app://coppice/index.html";

/** Before the app is ready: the page gets an origin of its own, with the rights of https and none of file://. */
export function registerPageScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: "app", privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

export function servePage(): void {
  protocol.handle("app", async (request) => {
    const url = new URL(request.url);
    const file = url.host === "coppice" ? await readStaticFile(url.pathname) : null;
    return file ? new Response(file.body, { headers: file.headers }) : new Response(null, { status: 404 });
  });
}
