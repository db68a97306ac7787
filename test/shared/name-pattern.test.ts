import { expect, test } from "vitest";
import { compileNamePattern } from "../../src-shared/name-pattern.ts";

/** The definition, word by word. */
function isLike(pattern: string, name: string): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return name === "";
  if (first === "*") return isLike(rest.join(""), name) || (name !== "" && isLike(pattern, name.slice(1)));
  return name !== "" && (first === "?" || first === name[0]) && isLike(rest.join(""), name.slice(1));
}

/** All texts of these letters up to a length. */
function texts(letters: string, most: number): string[] {
  const all = [""];
  for (const text of all) if (text.length < most) for (const letter of letters) all.push(text + letter);
  return all;
}

test("ACROSS-1: a pattern fits the names that its definition says", () => {
  const names = texts("ab", 4);
  const wrong = texts("ab*?", 4).flatMap((pattern) =>
    names.filter((name) => compileNamePattern(pattern).test(name) !== isLike(pattern, name)).map((name) => `${pattern} ${name}`),
  );
  expect(wrong).toEqual([]);
  expect(compileNamePattern("fix/*.x").test("fix/a+b.x")).toBe(true);
});

test("ACROSS-1: a pattern of many stars is answered at once for a long name that is almost like it", () => {
  const name = "a".repeat(128);
  expect(compileNamePattern(`${"*a".repeat(60)}*b`).test(name)).toBe(false);
  expect(compileNamePattern(`${"*a".repeat(60)}*`).test(name)).toBe(true);
});
