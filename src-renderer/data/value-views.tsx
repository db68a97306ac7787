import { isBlob, isCut } from "#shared/sql-literal.ts";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { formatBytes } from "#shared/units.ts";
import type { DataValue } from "#shared/query-views.ts";
import { toErrorView } from "../api/api-error.ts";
import { useApi } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { ErrorPanel, Skeleton } from "../ui/states.tsx";
import { valueBytes } from "../ui/value-text.ts";
import { plainText } from "./copy-values.ts";
import type { ShownValue } from "./value-panel.tsx";
import { EDGE_BYTES, bytesOf, bytesOfHex, decodePart, hexLines, imageType, readBytes, readSlice, readWholeValue } from "./whole-value.ts";

/** Bytes of one part of a long value. */
const PART_BYTES = 64 * 1024;
const JSON_BYTES_MAX = 8 * 1024 * 1024;
const IMAGE_BYTES_MAX = 16 * 1024 * 1024;

interface ViewProps {
  readonly shown: ShownValue;
}

function Box({ children, label, foot }: { readonly children: ReactNode; readonly label: string; readonly foot?: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-1 flex-col overflow-hidden rounded-md border border-line bg-canvas">
      <div
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
        role="region"
        aria-label={label}
        className="min-h-0 flex-1 overflow-auto px-2 py-1 font-mono text-xs whitespace-pre-wrap select-text wrap-anywhere"
      >
        {children}
      </div>
      {foot}
    </div>
  );
}

/** A part of a long value, from `offset` on; of a short one all of it. */
function usePart(shown: ShownValue, offset: number) {
  const api = useApi();
  const { at } = shown;
  return useQuery({
    queryKey: ["value part", at, offset, shown.value],
    enabled: at !== null && isCut(shown.value),
    gcTime: 0,
    queryFn: async () => {
      if (at === null) return null;
      const view = await readSlice(api, at, offset, PART_BYTES + EDGE_BYTES);
      return { bytes: bytesOfHex(view.slice), encoding: view.encoding };
    },
  });
}

function Pager(props: { readonly offset: number; readonly of: number; readonly onGo: (offset: number) => void }) {
  const { offset, of, onGo } = props;
  const end = Math.min(of, offset + PART_BYTES);
  return (
    <div className="flex h-7 flex-none items-center gap-2 border-t border-line bg-surface px-2 text-2xs text-ink-3 tabular-nums">
      Bytes {offset.toLocaleString()} to {end.toLocaleString()} of {of.toLocaleString()}
      <span className="ml-auto" />
      <Button size="sm" disabled={offset === 0} onClick={() => onGo(Math.max(0, offset - PART_BYTES))}>
        Previous part
      </Button>
      <Button size="sm" disabled={end >= of} onClick={() => onGo(end)}>
        Next part
      </Button>
      <Button size="sm" disabled={end >= of} onClick={() => onGo(Math.floor((of - 1) / PART_BYTES) * PART_BYTES)}>
        Last
      </Button>
    </div>
  );
}

/** Shows a long value part by part; without a key only its beginning is here. */
function Parts({
  shown,
  label,
  children,
}: ViewProps & { readonly label: string; readonly children: (bytes: Uint8Array, offset: number, encoding: string) => ReactNode }) {
  const [offset, setOffset] = useState(0);
  const part = usePart(shown, offset);
  const size = valueBytes(shown.value) ?? 0;
  if (shown.at === null)
    return (
      <Box
        label={label}
        foot={
          <p className="flex-none border-t border-line bg-surface px-2 py-1 text-2xs text-warn">
            Only the beginning of {formatBytes(size)} is here: the row has no key by which the rest could be asked for.
          </p>
        }
      >
        {children(bytesOf(shown.value), 0, "utf-8")}
      </Box>
    );
  const foot = <Pager offset={offset} of={size} onGo={setOffset} />;
  return (
    <Box label={label} foot={foot}>
      {part.error ? <ErrorPanel bare error={toErrorView(part.error)} onRetry={() => void part.refetch()} /> : null}
      {part.isPending ? <Skeleton lines={3} /> : null}
      {part.data ? children(part.data.bytes, offset, part.data.encoding) : null}
    </Box>
  );
}

function isBytes(value: DataValue): boolean {
  return isBlob(value) || (typeof value === "object" && value !== null && "invalidText" in value);
}

/** Bytes as text are read as UTF-8, with a sign for what is none. */
export function TextView({ shown }: ViewProps) {
  const { value } = shown;
  if (isCut(value))
    return (
      <Parts key={JSON.stringify(shown.at)} shown={shown} label="Text">
        {(bytes, offset, encoding) => decodePart(bytes, PART_BYTES, offset === 0, encoding)}
      </Parts>
    );
  return <Box label="Text">{isBytes(value) ? new TextDecoder().decode(bytesOf(value)) : plainText(value)}</Box>;
}

export function HexView({ shown }: ViewProps) {
  if (isCut(shown.value))
    return (
      <Parts key={JSON.stringify(shown.at)} shown={shown} label="Bytes">
        {(bytes, offset) => <HexTable bytes={bytes.subarray(0, PART_BYTES)} offset={offset} />}
      </Parts>
    );
  return (
    <Box label="Bytes">
      <HexTable bytes={bytesOf(shown.value)} offset={0} />
    </Box>
  );
}

function HexTable({ bytes, offset }: { readonly bytes: Uint8Array; readonly offset: number }) {
  if (bytes.length === 0) return <i className="font-sans text-ink-3">no bytes</i>;
  const lines = hexLines(bytes, offset);
  return (
    <div className="grid w-max grid-cols-[auto_auto_auto] gap-x-5 whitespace-pre">
      <div className="text-ink-3 select-none">{lines.map(({ at }) => at).join("\n")}</div>
      <div>{lines.map(({ hex }) => hex).join("\n")}</div>
      <div className="text-ink-2">{lines.map(({ text }) => text).join("\n")}</div>
    </div>
  );
}

/** Reads the whole of a value when it has not all of it. */
export function useWhole(shown: ShownValue, bytesMax: number) {
  const api = useApi();
  const { at, value } = shown;
  return useQuery({
    queryKey: ["whole value", at, value, bytesMax],
    gcTime: 0,
    queryFn: async (): Promise<DataValue> => (isCut(value) && at !== null ? readWholeValue(api, at, bytesMax) : value),
  });
}

export function JsonView({ shown }: ViewProps) {
  const whole = useWhole(shown, JSON_BYTES_MAX);
  if (whole.error) return <Failed error={whole.error} onRetry={() => void whole.refetch()} />;
  if (whole.data === undefined) return <Skeleton lines={3} />;
  return <Box label="JSON">{prettyJson(plainText(whole.data)) ?? "This is not valid JSON: look at it as text."}</Box>;
}

/** Indented without being read as numbers: what is written stays as it is. Null for what is no JSON. */
function prettyJson(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let [depth, out] = [0, ""];
  const line = (): string => `\n${"  ".repeat(depth)}`;
  for (const [index, token] of tokens.entries()) {
    const isEmpty = /[}\]]/.test(tokens[index + 1] ?? "") && (tokens[index + 1] ?? "").length === 1;
    const closesEmpty = index > 0 && (tokens[index - 1] === "{" || tokens[index - 1] === "[");
    if (token === "{" || token === "[") {
      depth += 1;
      out += isEmpty ? token : token + line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      out += closesEmpty ? token : line() + token;
    } else if (token === ",") out += token + line();
    else out += token === ":" ? ": " : token;
  }
  return out;
}

export function ImageView({ shown }: ViewProps) {
  const api = useApi();
  const { at, value } = shown;
  const image = useQuery({
    queryKey: ["image", at, value],
    gcTime: 0,
    queryFn: async () => {
      const bytes = isCut(value) && at !== null ? (await readBytes(api, at, IMAGE_BYTES_MAX)).bytes : bytesOf(value);
      return {
        url: dataUrl(bytes, isBlob(value) ? imageType(value.blob) : null),
        bytes: bytes.length,
      };
    },
  });
  if (image.error) return <Failed error={image.error} onRetry={() => void image.refetch()} />;
  if (!image.data) return <Skeleton lines={3} />;
  return (
    <Box label="Image">
      <Picture url={image.data.url} alt={`${shown.column}, ${formatBytes(image.data.bytes)}`} />
    </Box>
  );
}

function Picture({ url, alt }: { readonly url: string; readonly alt: string }) {
  const [size, setSize] = useState<string | null>(null);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <span className="font-sans text-ink-2">These bytes begin like an image, and are none: look at them in hex.</span>;
  return (
    <figure className="flex h-full items-start gap-3">
      <img
        src={url}
        alt={alt}
        onLoad={(event) => setSize(`${event.currentTarget.naturalWidth} × ${event.currentTarget.naturalHeight}`)}
        onError={() => setBroken(true)}
        className="max-h-full min-h-8 max-w-full border border-line object-contain [image-rendering:auto]"
      />
      <figcaption className="font-sans text-2xs text-ink-3 tabular-nums">{size}</figcaption>
    </figure>
  );
}

/** The window shows images of the page itself and of data URLs only. */
function dataUrl(bytes: Uint8Array, type: string | null): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += 32_768) text += String.fromCharCode(...bytes.subarray(start, start + 32_768));
  return `data:${type ?? "application/octet-stream"};base64,${btoa(text)}`;
}

function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (error instanceof RangeError)
    return <p className="text-xs text-ink-2">Not shown: {error.message}. Save it to a file, or look at it in hex.</p>;
  return <ErrorPanel bare error={toErrorView(error)} onRetry={onRetry} />;
}
