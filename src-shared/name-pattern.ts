/** Patterns by which branches are named: `*` for anything, folders included, `?` for one character. */

export interface NamePattern {
  /** Whether it stands for this name, as a whole. */
  readonly test: (name: string) => boolean;
}

export function compileNamePattern(pattern: string): NamePattern {
  return { test: (name) => isLike(name, pattern) };
}

/** A name that the pattern may stand for, by which it is checked like a name. */
export function exampleOfPattern(pattern: string): string {
  return pattern.replace(/[*?]+/g, "x");
}

/** No regular expression: one with several `.*` takes hours for a long name that is almost like it. This takes both lengths, multiplied. */
function isLike(name: string, pattern: string): boolean {
  let inPattern = 0;
  let inName = 0;
  /** The last star that was met, and up to where it reaches. Those before need not reach further. */
  let star = -1;
  let reach = 0;
  while (inName < name.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      star = inPattern;
      reach = inName;
      inPattern += 1;
    } else if (wanted === "?" || wanted === name[inName]) {
      inPattern += 1;
      inName += 1;
    } else if (star >= 0) {
      reach += 1;
      inPattern = star + 1;
      inName = reach;
    } else return false;
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}
