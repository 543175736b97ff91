# Makes the files of this folder: the same rows in every format (needs numpy and pyarrow).
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, pyarrow.ipc as ipc, datetime, io, zipfile
n=40
amount=[None if i%7==3 else (i*i%23)/4-2 for i in range(n)]
count=[(i*5)%11-3 for i in range(n)]
flag=[i%3==0 for i in range(n)]
word=[None if i%9==5 else ["red","green","blue, or \"cyan\""][i%3] for i in range(n)]
day=[None if i%8==6 else datetime.date(2020,1,1)+datetime.timedelta(days=i*9) for i in range(n)]
moment=[datetime.datetime(2021,3,4,5,6,7)+datetime.timedelta(hours=i*31) for i in range(n)]
small=[i%5 for i in range(n)]
t=pa.table({'amount':pa.array(amount,pa.float64()),'count':pa.array(count,pa.int64()),'flag':pa.array(flag),'word':pa.array(word,pa.string()),'day':pa.array(day,pa.date32()),'moment':pa.array(moment,pa.timestamp('us')),'small':pa.array(small,pa.uint8())})
import csv
with open('rows.csv','w',newline='') as f:
    w=csv.writer(f,lineterminator='\n'); w.writerow(t.column_names)
    for i in range(n):
        w.writerow(['' if amount[i] is None else amount[i],count[i],str(flag[i]).lower(),word[i] or '',day[i] or '',moment[i].isoformat(sep=' '),small[i]])
pq.write_table(t,'snappy.parquet',compression='snappy',row_group_size=16)
pq.write_table(t,'zstd.parquet',compression='zstd',use_dictionary=False)
pq.write_table(t,'gzip.parquet',compression='gzip',data_page_version='2.0')
pq.write_table(t,'lz4.parquet',compression='lz4')
pq.write_table(pa.table({'a':[[1,2],[3]]}),'nested.parquet')
d=t.set_column(3,'word',t['word'].dictionary_encode())
with ipc.new_file('lz4.arrow',t.schema,options=ipc.IpcWriteOptions(compression='lz4')) as w:
    for b in t.to_batches(max_chunksize=17): w.write_batch(b)
with ipc.new_file('dictionary.arrow',d.schema) as w: w.write_table(d)
with ipc.new_stream('stream.arrow',t.schema,options=ipc.IpcWriteOptions(compression='zstd')) as w: w.write_table(t)
v=t.set_column(3,'word',t['word'].cast(pa.string_view()))
with ipc.new_file('view.arrow',v.schema) as w: w.write_table(v)
with ipc.new_file('nested.arrow',pa.schema([('a',pa.list_(pa.int32()))])) as w: w.write_table(pa.table({'a':pa.array([[1]],pa.list_(pa.int32()))}))
X=np.array([[0.5,-1,3],[2,np.nan,4]]); y=np.array(['no','yes'])
np.savez('plain.npz',X=X,y=y); np.savez_compressed('packed.npz',X=X,y=y); np.savez('several.npz',x_train=X,y_train=y,x_test=X[:1],y_test=y[:1])
class W:  # a stream that cannot be gone back in, so that sizes follow each array
    def __init__(s): s.b=b''
    def write(s,x): s.b+=x; return len(x)
    def flush(s): pass
w=W()
with zipfile.ZipFile(w,'w') as z:
    for k,a in [('X',X),('y',y)]:
        q=io.BytesIO(); np.save(q,a)
        with z.open(k+'.npy','w') as f: f.write(q.getvalue())
open('streamed.npz','wb').write(w.b)
