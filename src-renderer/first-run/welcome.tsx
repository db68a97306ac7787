/** What a newcomer needs to know before pressing anything: three steps and the picture of them. */
const STEPS: readonly { readonly title: string; readonly text: string }[] = [
  { title: "Fork", text: "A branch is a pointer to a state that is already stored. Making one copies nothing." },
  { title: "Try", text: "Every branch has its own SQLite file. Use it with any program that opens SQLite." },
  { title: "Keep one", text: "Promote the branch that worked. Roll back, or undo, whatever did not." },
];

export function Welcome() {
  return (
    <div className="m-auto flex max-w-160 flex-col items-center gap-8 p-8">
      <Picture />
      <ol className="grid grid-cols-3 gap-6">
        {STEPS.map((step, index) => (
          <li key={step.title} className="text-xs text-ink-2">
            <span className="mb-1 block text-sm font-semibold text-ink">
              <span className="mr-1.5 text-ink-3 tabular-nums">{index + 1}</span>
              {step.title}
            </span>
            {step.text}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** One trunk, three shoots; the middle one goes back into the trunk. */
function Picture() {
  return (
    <svg
      viewBox="0 0 420 132"
      className="w-105 max-w-full"
      fill="none"
      strokeWidth={2.5}
      strokeLinecap="round"
      role="img"
      aria-label="Three branches leave main; one of them is promoted back onto it"
    >
      <path d="M16 24H404" stroke="var(--lane-main)" />
      <path d="M92 24C116 24 108 58 134 58H226" stroke="var(--lane-5)" />
      <path d="M92 24C120 24 104 90 134 90H286" stroke="var(--lane-3)" />
      <path d="M92 24C124 24 100 120 134 120H196" stroke="var(--lane-8)" />
      <path d="M286 90C318 90 306 24 338 24" stroke="var(--lane-3)" strokeDasharray="1 7" />
      <Dot x={40} y={24} colour="var(--lane-main)" />
      <Dot x={92} y={24} colour="var(--lane-main)" />
      <Dot x={174} y={58} colour="var(--lane-5)" />
      <Dot x={226} y={58} colour="var(--lane-5)" />
      <Dot x={174} y={90} colour="var(--lane-3)" />
      <Dot x={232} y={90} colour="var(--lane-3)" />
      <Dot x={286} y={90} colour="var(--lane-3)" />
      <Dot x={196} y={120} colour="var(--lane-8)" hollow />
      <Dot x={338} y={24} colour="var(--lane-main)" />
    </svg>
  );
}

function Dot({
  x,
  y,
  colour,
  hollow = false,
}: {
  readonly x: number;
  readonly y: number;
  readonly colour: string;
  readonly hollow?: boolean;
}) {
  return <circle cx={x} cy={y} r={5} fill={hollow ? "var(--canvas)" : colour} stroke={colour} />;
}
