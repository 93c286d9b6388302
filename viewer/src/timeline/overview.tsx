// The whole history in one lane.

export function Overview() {
  return <canvas class="overview" />;
}
