/** Whether another process of that id runs; one that we may not signal does. Our own id means a leftover of an earlier process. */
export function isOtherAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
