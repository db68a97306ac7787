import { useLayoutEffect, useRef, useState, type RefObject } from "react";

interface Size {
  readonly width: number;
  readonly height: number;
}

const NOTHING: Size = { width: 0, height: 0 };

/** Whole CSS pixels that an element takes, kept current; nothing before it was laid out. */
export function useSize<T extends HTMLElement>(): readonly [RefObject<T | null>, Size] {
  const ref = useRef<T>(null);
  const [size, setSize] = useState(NOTHING);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const read = () => {
      const box = element.getBoundingClientRect();
      const next = { width: Math.floor(box.width), height: Math.floor(box.height) };
      setSize((current) => (current.width === next.width && current.height === next.height ? current : next));
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}
