import { measureDiff } from "/work/main/bench/diff/measure-diff.ts";
import { SegmentReader } from "#engine/segments/segment-reader.ts";
let base=0,delta=0; const orig=SegmentReader.prototype.decodeFrame;
SegmentReader.prototype.decodeFrame=function(this:any,f:number,d:Uint8Array){ if(this.index.kind==="base")base++; else delta++; return orig.call(this,f,d);} as any;
for (const n of process.argv.slice(3).map(Number)) for (const r of [0,3]) { base=delta=0; const c=process.cpuUsage(); const x=await measureDiff(process.argv[2]!, n, r); const u=process.cpuUsage(c); console.log(n, r, x.first.toFixed(0), "cpu", ((u.user+u.system)/1000).toFixed(0), "base",base,"delta",delta, x.memoryBytes/2**20);}
