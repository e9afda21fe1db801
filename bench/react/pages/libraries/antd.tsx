import {
  Alert,
  Breadcrumb,
  Button,
  Card,
  Checkbox,
  Col,
  ConfigProvider,
  Descriptions,
  Form,
  Input,
  Layout,
  List,
  Menu,
  Pagination,
  Progress,
  Rate,
  Row as Line,
  Space,
  Statistic,
  Steps,
  Switch,
  Table,
  Tabs,
  Tag,
  Timeline,
  Typography,
} from 'antd';
import { rows, type LibraryPage, type Row } from './rows.ts';

const columns = [
  { title: 'Name', dataIndex: 'name' },
  { title: 'City', dataIndex: 'city', render: (city: string) => <Tag color="blue">{city}</Tag> },
  { title: 'Amount', dataIndex: 'amount' },
  { title: 'Action', render: (_: unknown, row: Row) => <Button size="small">Open {row.id}</Button> },
];

function Page({ data }: { data: Row[] }): React.ReactNode {
  return (
    <ConfigProvider>
      <Layout>
        <Layout.Header>
          <Menu
            mode="horizontal"
            items={[
              { key: 'a', label: 'Orders' },
              { key: 'b', label: 'Customers' },
            ]}
          />
        </Layout.Header>
        <Layout.Content>
          <Breadcrumb items={[{ title: 'Home' }, { title: 'Orders' }]} />
          <Typography.Title level={2}>Orders</Typography.Title>
          <Alert title="Three orders are late" type="warning" showIcon />
          <Line gutter={16}>
            {data.slice(0, 4).map((row) => (
              <Col span={6} key={row.id}>
                <Card title={row.city}>
                  <Statistic title={row.name} value={row.amount} />
                  <Progress percent={row.id % 100} />
                  <Rate value={3} />
                </Card>
              </Col>
            ))}
          </Line>
          <Steps current={1} items={[{ title: 'Paid' }, { title: 'Packed' }, { title: 'Sent' }]} />
          <Table rowKey="id" columns={columns} dataSource={data} pagination={false} />
          <Form layout="vertical">
            <Form.Item label="Search" name="search">
              <Input placeholder="Name" />
            </Form.Item>
            <Form.Item name="open" valuePropName="checked">
              <Checkbox>Open ones</Checkbox>
            </Form.Item>
            <Space>
              <Switch defaultChecked />
              <Button type="primary">Search</Button>
            </Space>
          </Form>
          <Tabs
            items={[
              { key: '1', label: 'Day', children: 'Today' },
              { key: '2', label: 'Week', children: 'Week' },
            ]}
          />
          <Timeline items={data.slice(0, 5).map(({ name }) => ({ children: name }))} />
          <List dataSource={data.slice(0, 6)} renderItem={(row) => <List.Item>{row.name}</List.Item>} />
          <Descriptions
            items={data.slice(0, 4).map((row) => ({ key: row.id, label: row.city, children: row.name }))}
          />
          <Pagination total={85} />
        </Layout.Content>
      </Layout>
    </ConfigProvider>
  );
}

const page: LibraryPage<Row[]> = { data: (seed) => rows(seed), element: (data) => <Page data={data} /> };
export const pages = { 'library antd': page };
