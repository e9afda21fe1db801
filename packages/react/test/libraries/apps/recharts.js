import { createElement as h } from 'react';
import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Cell,
  Legend,
  Line,
  LineChart,
  Pie,
  PieChart,
  PolarAngleAxis,
  PolarGrid,
  Radar,
  RadarChart,
  Scatter,
  ScatterChart,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';

const data = ['Jan', 'Feb', 'Mar & Apr', 'May'].map((name, index) => ({
  name,
  one: 10 + index * 7,
  two: 40 - index * 5,
}));
const size = { width: 400, height: 200, data };
const axes = () => [
  h(CartesianGrid, { key: 'g', strokeDasharray: '3 3' }),
  h(XAxis, { key: 'x', dataKey: 'name' }),
  h(YAxis, { key: 'y' }),
  h(Tooltip, { key: 't' }),
  h(Legend, { key: 'l' }),
];
const still = { isAnimationActive: false };

export default () =>
  h(
    'main',
    null,
    h(
      LineChart,
      size,
      ...axes(),
      h(Line, { dataKey: 'one', type: 'monotone', stroke: '#888', ...still }),
      h(Line, { dataKey: 'two', ...still }),
    ),
    h(
      BarChart,
      size,
      ...axes(),
      h(
        Bar,
        { dataKey: 'one', ...still },
        data.map(({ name }) => h(Cell, { key: name, fill: '#abc' })),
      ),
    ),
    h(AreaChart, size, ...axes(), h(Area, { dataKey: 'two', ...still })),
    h(PieChart, { width: 200, height: 200 }, h(Pie, { data, dataKey: 'one', label: true, ...still })),
    h(
      RadarChart,
      { width: 200, height: 200, data },
      h(PolarGrid),
      h(PolarAngleAxis, { dataKey: 'name' }),
      h(Radar, { dataKey: 'one', ...still }),
    ),
    h(
      ScatterChart,
      { width: 200, height: 200 },
      h(XAxis, { dataKey: 'one', type: 'number' }),
      h(YAxis, { dataKey: 'two' }),
      h(Scatter, { data, ...still }),
    ),
  );
