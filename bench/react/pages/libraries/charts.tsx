import { Bar as NivoBar } from '@nivo/bar';
import { AxisBottom, AxisLeft } from '@visx/axis';
import { Group } from '@visx/group';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar, LinePath } from '@visx/shape';
import { VictoryAxis, VictoryBar, VictoryChart, VictoryLine } from 'victory';
import { figures, type Figure, type LibraryPage } from './rows.ts';

function Visx({ data }: { data: Figure[] }): React.ReactNode {
  const x = scaleBand({ domain: data.map(({ month }) => month), range: [0, 400], padding: 0.2 });
  const y = scaleLinear({ domain: [0, 100], range: [200, 0] });
  return (
    <svg width={460} height={260}>
      <Group left={40} top={10}>
        {data.map(({ month, sold }) => (
          <Bar
            key={month}
            x={x(month) ?? 0}
            y={y(sold)}
            width={x.bandwidth()}
            height={200 - y(sold)}
            fill="teal"
          />
        ))}
        <LinePath data={data} x={({ month }) => x(month) ?? 0} y={({ back }) => y(back)} stroke="black" />
        <AxisBottom scale={x} top={200} />
        <AxisLeft scale={y} />
      </Group>
    </svg>
  );
}

function Page({ data }: { data: Figure[] }): React.ReactNode {
  return (
    <main>
      <h1>Sales</h1>
      <VictoryChart>
        <VictoryAxis />
        <VictoryAxis dependentAxis />
        <VictoryBar data={data} x="month" y="sold" />
        <VictoryLine data={data} x="month" y="back" />
      </VictoryChart>
      <NivoBar
        width={460}
        height={260}
        data={data.map((each) => ({ ...each }))}
        keys={['sold', 'back']}
        indexBy="month"
        animate={false}
        axisBottom={{}}
        axisLeft={{}}
      />
      <Visx data={data} />
    </main>
  );
}

const page: LibraryPage<Figure[]> = { data: figures, element: (data) => <Page data={data} /> };
export const pages = { 'library charts': page };
