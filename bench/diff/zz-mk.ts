import { makeSourceDatabase } from "/work/main/bench/runner/source-database.ts";
import { makeDiffStore } from "/work/main/bench/diff/measure-diff.ts";
const mb=Number(process.argv[2]); const f=process.argv[3]!;
await makeSourceDatabase(f+"/source.db",{megabytes:mb,seed:1},async()=>{});
await makeDiffStore(f,f+"/source.db",[100,10000]);
