import { expect, test } from "vitest";
import { fileArgument } from "../../src-main/electron/arguments.ts";
import { placeWindow, type Area } from "../../src-main/electron/window-state.ts";

const LEFT: Area = { x: 0, y: 0, width: 1920, height: 1040 };
const RIGHT: Area = { x: 1920, y: 0, width: 1280, height: 1000 };
const saved = { x: 2000, y: 100, width: 1000, height: 700, maximized: false };

test("DESKTOP-1: the window comes back where it was, on a display that exists, and never larger than it", () => {
  expect(placeWindow(saved, [LEFT, RIGHT])).toEqual(saved);
  expect(placeWindow(saved, [LEFT])).toEqual({ x: 460, y: 170, width: 1000, height: 700, maximized: false });
  expect(placeWindow({ ...saved, x: 2500, width: 1200 }, [LEFT, RIGHT])).toMatchObject({ x: 2000, width: 1200 });
  expect(placeWindow({ x: 0, y: 0, width: 9000, height: 9000, maximized: true }, [LEFT])).toEqual({
    x: 0,
    y: 0,
    width: 1920,
    height: 1040,
    maximized: true,
  });
  expect(placeWindow({ x: 1890, y: 0, width: 800, height: 500, maximized: false }, [LEFT])).toMatchObject({ x: 560, y: 270 });
  expect(placeWindow(null, [LEFT])).toEqual({ x: 320, y: 120, width: 1280, height: 800, maximized: false });
  expect(placeWindow(null, [{ x: 0, y: 0, width: 640, height: 480 }])).toEqual({ x: 0, y: 0, width: 640, height: 480, maximized: false });
});

test("DESKTOP-2: a database among the arguments is opened, made absolute; options and the app itself are not", () => {
  expect(fileArgument(["/usr/bin/electron", "."], "/home/me")).toBeNull();
  expect(fileArgument(["/usr/bin/electron", ".", "--flag=x.db", "sub/My Shop.SQLite"], "/home/me")).toBe("/home/me/sub/My Shop.SQLite");
  expect(fileArgument(["/opt/app.db", "notes.txt"], "/home/me")).toBeNull();
});
