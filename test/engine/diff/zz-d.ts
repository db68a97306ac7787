import { zstdCompressSync, zstdDecompressSync, constants, crc32 } from "node:zlib";
import { openSync, readSync } from "node:fs";
const f=openSync("/tmp/D/p1000/source.db","r"); const raw=Buffer.alloc(65536); const blocks=[]; for(let i=0;i<400;i++){ readSync(f,raw,0,65536,(1000+i*37)*4096*3); blocks.push(zstdCompressSync(raw,{params:{[constants.ZSTD_c_compressionLevel]:1}})); }
const t=(name:string,fn:(b:Buffer)=>unknown)=>{ const c=process.cpuUsage(); const s=performance.now(); for(const b of blocks) fn(b); const u=process.cpuUsage(c); console.log(name, ((u.user+u.system)/400).toFixed(0)+" µs cpu", ((performance.now()-s)*1000/400).toFixed(0)+" µs wall"); };
for(let k=0;k<3;k++){ t("default",b=>zstdDecompressSync(b)); t("chunk 65536+",b=>zstdDecompressSync(b,{chunkSize:65536+64,maxOutputLength:70000})); t("chunk",b=>zstdDecompressSync(b,{chunkSize:131072})); t("crc",b=>crc32(b)); }
