/**
 * Who may talk to the web host. The link that it prints carries a one-time token in its fragment. The first connection
 * that brings it gets a session cookie in exchange and the token is spent, so that a link seen by others later (shell
 * history, screenshots) opens nothing; reloads and further tabs of the same browser carry the cookie.
 *
 * Two more checks stop other web pages: `Host` must name this computer and our port (a foreign name that was re-pointed
 * to 127.0.0.1 is refused), and `Origin` must be our own page.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Links that were printed and not used yet, and browsers that used one; the oldest go first. */
const TOKENS_MAX = 16;
const SESSIONS_MAX = 64;

export class Sessions {
  #tokens: string[] = [];
  #sessions: string[] = [];
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** A new one-time link. */
  newLink(): string {
    const token = randomBytes(24).toString("base64url");
    this.#tokens = [...this.#tokens, digest(token)].slice(-TOKENS_MAX);
    return `http://127.0.0.1:${this.#port}/#token=${token}`;
  }

  /** True when the request was addressed to this computer by a name that nobody else can own. */
  isAddressedToUs(request: IncomingMessage): boolean {
    const names = ["127.0.0.1", "localhost", "[::1]"];
    return names.some((name) => request.headers.host === `${name}:${this.#port}`);
  }

  /** True when a page of ours sent it. */
  isFromOurPage(request: IncomingMessage): boolean {
    return this.isAddressedToUs(request) && request.headers.origin === `http://${request.headers.host}`;
  }

  hasSession(request: IncomingMessage): boolean {
    const cookies = (request.headers.cookie ?? "").split(";").map((part) => part.trim());
    const value = cookies.find((part) => part.startsWith(`${this.#cookieName}=`))?.slice(this.#cookieName.length + 1);
    return value !== undefined && this.#sessions.some((known) => sameDigest(known, digest(value)));
  }

  /** Spends a token; returns the `Set-Cookie` value of the new session, or null when the token is unknown or spent. */
  exchange(token: string): string | null {
    const spent = this.#tokens.find((known) => sameDigest(known, digest(token)));
    if (spent === undefined) return null;
    this.#tokens = this.#tokens.filter((known) => known !== spent);
    const session = randomBytes(32).toString("base64url");
    this.#sessions = [...this.#sessions, digest(session)].slice(-SESSIONS_MAX);
    return `${this.#cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Cookies do not tell ports apart: two hosts on one computer need two names. */
  get #cookieName(): string {
    return `coppice-${this.#port}`;
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function sameDigest(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
