import {
  Accordion,
  AccordionHeader,
  AccordionItem,
  AccordionPanel,
  Avatar,
  Badge,
  Button,
  Card,
  CardHeader,
  Checkbox,
  Divider,
  Field,
  FluentProvider,
  Input,
  Label,
  Link,
  ProgressBar,
  Radio,
  RadioGroup,
  RendererProvider,
  SSRProvider,
  Switch,
  Tab,
  TabList,
  Table,
  TableBody,
  TableCell,
  TableHeader,
  TableHeaderCell,
  TableRow,
  Text,
  Title1,
  Toolbar,
  ToolbarButton,
  createDOMRenderer,
  webLightTheme,
} from '@fluentui/react-components';
import { rows, type LibraryPage, type Row } from './rows.ts';

function Page({ data }: { data: Row[] }): React.ReactNode {
  return (
    <RendererProvider renderer={createDOMRenderer()}>
      <SSRProvider>
        <FluentProvider theme={webLightTheme}>
          <Toolbar>
            <ToolbarButton>Orders</ToolbarButton>
            <ToolbarButton>Customers</ToolbarButton>
          </Toolbar>
          <Title1>Orders</Title1>
          <TabList defaultSelectedValue="day">
            <Tab value="day">Day</Tab>
            <Tab value="week">Week</Tab>
          </TabList>
          {data.slice(0, 6).map((row) => (
            <Card key={row.id}>
              <CardHeader
                image={<Avatar name={row.name} />}
                header={<Text weight="semibold">{row.name}</Text>}
                description={row.city}
              />
              <ProgressBar value={(row.id % 100) / 100} />
              <Badge appearance="filled">{row.open ? 'open' : 'closed'}</Badge>
              <Button appearance="primary">Open</Button>
            </Card>
          ))}
          <Divider />
          <Table>
            <TableHeader>
              <TableRow>
                <TableHeaderCell>Name</TableHeaderCell>
                <TableHeaderCell>City</TableHeaderCell>
                <TableHeaderCell>Amount</TableHeaderCell>
              </TableRow>
            </TableHeader>
            <TableBody>
              {data.map((row) => (
                <TableRow key={row.id}>
                  <TableCell>{row.name}</TableCell>
                  <TableCell>
                    <Link href={`/c/${row.city}`}>{row.city}</Link>
                  </TableCell>
                  <TableCell>{row.amount}</TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
          <Accordion defaultOpenItems="1">
            <AccordionItem value="1">
              <AccordionHeader>More</AccordionHeader>
              <AccordionPanel>Text</AccordionPanel>
            </AccordionItem>
          </Accordion>
          <Field label="Name">
            <Input />
          </Field>
          <Checkbox label="Open ones" />
          <RadioGroup>
            <Radio value="a" label="A" />
            <Radio value="b" label="B" />
          </RadioGroup>
          <Switch label="Live" />
          <Label>End</Label>
        </FluentProvider>
      </SSRProvider>
    </RendererProvider>
  );
}

const page: LibraryPage<Row[]> = { data: (seed) => rows(seed, 16), element: (data) => <Page data={data} /> };
export const pages = { 'library fluent': page };
